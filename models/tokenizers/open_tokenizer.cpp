#include "models/tokenizers/file_openers.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "models/tokenizers/unicode.hpp"
#include "models/weights/listed_names.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;

/// Every byte is a token, and none of them special. id_of() accepts a text of one byte.
class byte_tokenizer final : public tokenizer {
 public:
  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override {
    require_utf8(text);
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
  std::string decode(std::span<const std::uint32_t> ids) const override {
    std::string text;
    for (const std::uint32_t id : ids) {
      if (id > 255) refuse(fmt::format("token {}: the id {} is not a byte", text.size(), id));
      text += static_cast<char>(id);
    }
    return text;
  }
  std::int64_t vocabulary() const override { return 256; }
  std::optional<std::uint32_t> id_of(std::string_view token) const override {
    return token.size() == 1 ? std::optional<std::uint32_t>{static_cast<unsigned char>(token.front())} : std::nullopt;
  }
  special_tokens special() const override { return {}; }
  std::string identity() const override { return "bytes"; }
  std::string describe() const override { return "tokenizer bytes"; }
};

/// The tokenizer.json that a choice names, if it does.
fs::path json_of(const tokenizer_choice& choice) {
  const fs::path file = fs::is_directory(choice.file) ? choice.file / "tokenizer.json" : choice.file;
  return file.extension() != ".model" && fs::exists(file) ? file : fs::path{};
}

std::shared_ptr<const tokenizer> open_with_added(const tokenizer_choice& choice) {
  const fs::path file = json_of(choice);
  if (file.empty())
    refuse(fmt::format("tokens ({}) are added to a tokenizer.json, and there is none: let transformers save it as that "
                       "(AutoTokenizer, save_pretrained), and name its folder, tokenizer = {{ file = \"...\" }}",
                       fmt::join(choice.added, ", ")));
  return open_tokenizer_json(file, choice.added);
}

std::shared_ptr<const tokenizer> open_folder(const fs::path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (has("tokenizer.json")) return open_tokenizer_json(folder / "tokenizer.json");
  if (has("vocab.json") && has("merges.txt")) return open_bpe_files(folder / "vocab.json", folder / "merges.txt");
  if (has("vocab.txt")) return open_wordpiece_file(folder / "vocab.txt");
  if (has("tokenizer.model")) return open_sentencepiece(folder / "tokenizer.model");
  refuse(fmt::format(
      "{}: the folder has no tokenizer.json, nor vocab.json with merges.txt, nor vocab.txt, nor tokenizer.model",
      folder.string()));
}

std::shared_ptr<const tokenizer> open_file(const fs::path& file) {
  return file.extension() == ".model" ? open_sentencepiece(file) : open_tokenizer_json(file);
}

}  // namespace

std::string text_of_token(const tokenizer* by, std::int64_t id) {
  if (!by || id < 0 || id >= by->vocabulary()) return {};
  return by->decode(std::array{static_cast<std::uint32_t>(id)});
}

std::shared_ptr<const tokenizer> open_tokenizer(const tokenizer_choice& choice) {
  const auto& [bytes, file, vocab, merges, added] = choice;
  if (bytes && !(file.empty() && vocab.empty() && merges.empty()))
    refuse(fmt::format("a tokenizer is bytes or {}, not both",
                       (file.empty() ? vocab.empty() ? merges : vocab : file).string()));
  if (!file.empty() && !(vocab.empty() && merges.empty()))
    refuse(fmt::format("a tokenizer is {} or {}, not both", file.string(), (vocab.empty() ? merges : vocab).string()));
  if (!merges.empty() && vocab.empty())
    refuse(fmt::format("{} needs the vocabulary (vocab.json) that goes with it", merges.string()));
  if (!added.empty()) return open_with_added(choice);
  if (!merges.empty()) return open_bpe_files(vocab, merges);
  if (!vocab.empty()) return open_wordpiece_file(vocab);
  if (file.empty()) return std::make_shared<byte_tokenizer>();
  return kind_of(file) == fs::file_type::directory ? open_folder(file) : open_file(file);
}

bool has_tokenizer(const fs::path& folder) {
  return std::ranges::any_of(std::array{"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model"},
                             [&](const char* name) { return fs::is_regular_file(folder / name); });
}

std::vector<fs::path> files_beside_tokenizer(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json",
                           "chat_template.jinja"})
    if (fs::is_regular_file(folder / name)) all.push_back(folder / name);
  return all;
}

std::optional<std::string> note_on_lone_settings(const fs::path& folder) {
  if (has_tokenizer(folder)) return std::nullopt;
  std::vector<std::string> names;
  for (const char* const name : {"added_tokens.json", "additional_chat_templates", "chat_template.jinja",
                                 "special_tokens_map.json", "tokenizer_config.json"})
    if (fs::exists(folder / name)) names.emplace_back(name);
  if (names.empty()) return std::nullopt;
  return fmt::format(
      "{}: Hydra does not read {}: there is no tokenizer beside the adapter, and that of its base has settings "
      "of its own",
      folder.string(), listed_names(names));
}

}  // namespace hydra
