#include "apps/commands/exported_texts.hpp"

#include "apps/commands/tokenizer_files.hpp"
#include "models/data/chat_jinja.hpp"
#include "models/tokenizers/sentencepiece_json.hpp"
#include "models/weights/generation_config.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/durable_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Of a tokenizer.json. Names only special tokens that are found in a text: transformers finds all that are named.
std::string tokenizer_settings_of(const tokenizer& words) {
  ordered_json settings{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  const special_tokens special = words.special();
  const auto add = [&](const char* key, std::optional<std::uint32_t> id) {
    if (!id) return;
    const std::string name = words.decode({&*id, 1});
    if (words.encode(name) == std::vector{*id}) settings[key] = name;
  };
  add("bos_token", special.begin_of_text);
  add("eos_token", special.end_of_text);
  add("pad_token", special.padding);
  return json_text(settings, 2) + "\n";
}

/// The model never writes a token that it has no row for: that of a larger tokenizer, or of another checkpoint.
void leave_out_unknown(const chain& model, std::vector<std::int64_t>& ends) {
  const std::int64_t vocabulary = model.outputs(1).back().shape.back();
  const auto is_known = [&](std::int64_t id) { return id >= 0 && id < vocabulary; };
  const auto unknown = std::ranges::stable_partition(ends, is_known);
  if (!unknown.empty())
    tell_line(fmt::format("note: eos_token_id: {} left out: the model has rows for {} tokens only",
                          fmt::join(unknown, ", "), vocabulary));
  ends.erase(unknown.begin(), unknown.end());
}

/// "eos_token_id" of a JSON object: a number, a list of several, or null.
std::string with_ends(const std::string& config, const std::vector<std::int64_t>& ends) {
  ordered_json changed = parse_ordered_json(config);
  ordered_json& key = changed["eos_token_id"] = nullptr;
  if (!ends.empty()) key = ends.size() == 1 ? ordered_json(ends.front()) : ordered_json(ends);
  return json_text(changed, 2) + "\n";
}

constexpr const char* settings_file = "tokenizer_config.json";
constexpr const char* template_file = "chat_template.jinja";

/// Of a tokenizer.model without files beside it; nothing if that cannot be written as one.
std::optional<std::string> made_json(const copied_files& copied) {
  const bool alone = copied.size() == 1 && copied.contains("tokenizer.model");
  return alone ? sentencepiece_json(copied.at("tokenizer.model")) : std::nullopt;
}

/// What transformers needs beside a tokenizer that has no settings: without them it guesses a kind by the model's.
void write_tokenizer_settings(durable_folder& into, const copied_files& copied, const tokenizer& words) {
  const auto made = made_json(copied);
  if (made) into.write("tokenizer.json", *made);
  const bool has_json = made || copied.contains("tokenizer.json");
  if (has_json && !copied.contains(settings_file)) into.write(settings_file, tokenizer_settings_of(words));
  if (!has_json && copied.contains("tokenizer.model"))
    tell_line(
        "note: transformers reads this tokenizer.model by rules of its own, so that token ids may differ; give the "
        "data a tokenizer.json for the same ids");
}

}  // namespace

void exported_texts::write_tokenizer(durable_folder& into) {
  const auto choice = tokenizer_for(data_, trained_.wants());
  const copied_files copied = copy_tokenizer_files(into, choice.value_or(tokenizer_choice{}));
  if (!copied.empty()) words_ = open_tokenizer(*choice);
  if (words_) write_tokenizer_settings(into, copied, *words_);
  write_template(into, copied);
}

/// A checkpoint's template is exported as it is stored: its settings may have others of further names.
void exported_texts::write_template(durable_folder& into, const std::map<std::string, fs::path>& copied) const {
  const auto chat = words_ ? chat_format_of(data_, trained_.wants(), *words_) : std::nullopt;
  if (!chat) return copy_if_there(into, trained_.wants().tokenizer_folder(), template_file);
  if (chat->stored && chat->stored->file.filename() == settings_file && copied.contains(settings_file)) return;
  into.write(template_file, chat_jinja(*chat, marks_of(*words_)));
}

std::vector<std::int64_t> exported_texts::ends(const std::vector<std::int64_t>& stored) const {
  const auto chat = words_ ? chat_format_of(data_, trained_.wants(), *words_) : std::nullopt;
  const auto turn = chat ? chat_template{*chat, *words_}.end_of_turn() : std::nullopt;
  const bool ends = std::holds_alternative<jsonl_files>(data_.what) || std::holds_alternative<csv_files>(data_.what);
  if (!words_ || trained_.form != sample_form::causal || (!turn && !ends && !stored.empty())) return stored;
  std::vector<std::int64_t> all;
  if (turn) all.push_back(*turn);
  all.insert(all.end(), stored.begin(), stored.end());
  if (const auto text = words_->special().end_of_text) all.push_back(*text);
  for (auto id = all.begin(); id != all.end();) id = std::find(all.begin(), id, *id) == id ? id + 1 : all.erase(id);
  return all;
}

std::optional<std::vector<std::int64_t>> exported_texts::write_ends(durable_folder& into, const chain& model) const {
  if (model.hub().config.empty()) return std::nullopt;
  const fs::path& folder = generation_folder(trained_.adapter, trained_.checkpoint);
  const auto stored = stored_ends(model.hub().config, folder, wrong_ends::left_out);
  auto now = ends(stored);
  if (trained_.form == sample_form::causal && trained_.context > 0) leave_out_unknown(model, now);
  if (now == stored) {
    copy_if_there(into, folder, generation_config);
    return std::nullopt;
  }
  const fs::path file = generation_file(folder);
  into.write(generation_config, with_ends(file.empty() ? "{}" : read_text(file, text_kind::settings), now));
  return now;
}

chain exported_texts::write_settings(durable_folder& into, chain model) const {
  const auto others = write_ends(into, model);
  if (!others) return model;
  hub_form form = model.hub();
  form.config = with_ends(form.config, *others);
  return model.publish_as(std::move(form));
}

}  // namespace hydra::apps
