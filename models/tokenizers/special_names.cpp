#include "models/tokenizers/special_names.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace hydra {

namespace {

using special_id = std::optional<std::uint32_t>;

struct role {
  special_id special_tokens::*place;
  const char* key;
  std::vector<std::string_view> usual;
};

const std::vector<role>& roles() {
  static const std::vector<role> all{
      {&special_tokens::begin_of_text,
       "bos_token",
       {"<|begin_of_text|>", "<s>", "<bos>", "<|startoftext|>", "[BOS]", "<|endoftext|>"}},
      {&special_tokens::end_of_text,
       "eos_token",
       {"<|end_of_text|>", "<|endoftext|>", "</s>", "<eos>", "<|im_end|>", "[EOS]"}},
      {&special_tokens::padding, "pad_token", {"[PAD]", "<pad>", "<|padding|>", "<|pad|>"}},
      {&special_tokens::unknown, "unk_token", {"[UNK]", "<unk>"}},
      {&special_tokens::mask, "mask_token", {"[MASK]", "<mask>"}},
      {&special_tokens::classify, "cls_token", {"[CLS]"}},
      {&special_tokens::separate, "sep_token", {"[SEP]"}},
  };
  return all;
}

/// "eos_token": null means that there is none, even if a token has a usual name.
bool says_none(const std::optional<model_config>& file, const char* key) {
  return file && file->content().contains(key) && file->content().at(key).is_null();
}

}  // namespace

special_tokens find_special(const tokenizer_settings& settings, const token_search& id_of) {
  special_tokens found;
  for (const role& r : roles()) {
    special_id& place = found.*r.place;
    if (const model_config* const file = settings.deciding(r.key)) place = id_of(content_of(file->content().at(r.key)));
    if (says_none(settings.config, r.key)) continue;
    for (const std::string_view name : r.usual)
      if (!place) place = id_of(name);
  }
  return found;
}

void add_named_frame(const tokenizer_settings& settings, special_tokens& special) {
  if (settings.flag("add_bos_token", false) && special.begin_of_text) special.before = {*special.begin_of_text};
  if (settings.flag("add_eos_token", false) && special.end_of_text) special.after = {*special.end_of_text};
}

}  // namespace hydra
