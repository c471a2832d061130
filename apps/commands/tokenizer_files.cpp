#include "apps/commands/tokenizer_files.hpp"

#include "apps/workload/check_file.hpp"
#include "models/tokenizers/file_tokenizer.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Files next to a tokenizer's own files that configure its use.
constexpr std::array companions{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

void copy(durable_folder& into, const std::string& name, const fs::path& file) {
  const mapped_file content{file};
  into.write(name, [&](byte_sink& out) { out.add(content.bytes()); });
}

/// A tokenizer's own files in a folder.
constexpr std::array tokenizers{"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model"};

const char* name_of(const fs::path& file) {
  if (file.extension() == ".txt") return "vocab.txt";
  return file.extension() == ".model" ? "tokenizer.model" : "tokenizer.json";
}

template <class Names>
copied_files found_in(const fs::path& folder, const Names& names) {
  copied_files found;
  for (const char* const name : names)
    if (fs::is_regular_file(folder / name)) found.emplace(name, folder / name);
  return found;
}

copied_files own_files(const tokenizer_choice& t) {
  if (fs::is_directory(t.file)) {
    copied_files found = found_in(t.file, tokenizers);
    if (found.empty())
      refuse(fmt::format("the tokenizer's folder {} has none of the files {}", t.file.string(),
                         fmt::join(tokenizers, ", ")));
    return found;
  }
  if (!t.file.empty()) return {{name_of(t.file), t.file}};
  if (t.vocab.empty()) return {};
  if (t.merges.empty()) return {{"vocab.txt", t.vocab}};  // a vocabulary without merges is a WordPiece vocabulary
  return {{"vocab.json", t.vocab}, {"merges.txt", t.merges}};
}

/// An entry of a tokenizer.json's added_tokens.
ordered_json entry_of(const added_token& token) {
  return {{"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
          {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
          {"special", token.special}};
}

/// A tokenizer.json with the tokens that the choice adds, and those that the settings beside it had added before: where
/// it is read again, its own tokens come first, and those of the settings would get other ids.
std::string with_added_tokens(const fs::path& file, const tokenizer_choice& choice) {
  ordered_json content = parse_ordered_json(read_text(file, text_kind::vocabulary));
  ordered_json& list = content["added_tokens"];
  const auto opened = open_tokenizer(choice);
  std::vector<added_token> tokens = dynamic_cast<const file_tokenizer&>(*opened).added();
  std::ranges::sort(tokens, {}, &added_token::id);  // which the `tokenizers` package numbers in their order
  for (const added_token& token : tokens)
    if (std::ranges::none_of(list, [&](const ordered_json& t) { return t["content"] == token.content; }))
      list.push_back(entry_of(token));
  return json_text(content, 2) + "\n";
}

}  // namespace

tokenizer_choice named_tokenizer(const std::string& name) {
  if (name.empty()) refuse("--tokenizer is empty; give bytes, a tokenizer.json or its folder");
  if (name == "bytes") return {};
  if (kind_of(name, "--tokenizer") == fs::file_type::not_found)
    refuse(fmt::format("--tokenizer {}: no such file or folder{}", shown(name), hub_hint(name)));
  return {.file = name};
}

copied_files copy_tokenizer_files(durable_folder& into, const tokenizer_choice& tokenizer) {
  copied_files all = own_files(tokenizer);
  std::set<fs::path> folders;
  for (const auto& [name, file] : all) folders.insert(file.parent_path());
  if (folders.size() == 1) all.merge(found_in(*folders.begin(), companions));
  for (const auto& [name, file] : all) {
    if (tokenizer.added.empty() || name != "tokenizer.json")
      copy(into, name, file);
    else
      into.write(name, with_added_tokens(file, tokenizer));
  }
  return all;
}

void copy_if_there(durable_folder& into, const fs::path& checkpoint, const std::string& name) {
  if (!checkpoint.empty() && fs::is_regular_file(checkpoint / name)) copy(into, name, checkpoint / name);
}

}  // namespace hydra::apps
