#include "apps/commands/tokenizer_files.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Files next to a tokenizer's own files that configure its use.
constexpr std::array companions{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

/// Files next to a checkpoint's weights that configure their use.
constexpr std::array checkpoint_companions{"generation_config.json", "chat_template.jinja"};

void copy(durable_folder& into, const std::string& name, const fs::path& file) {
  const mapped_file content{file};
  into.write(name, [&](byte_sink& out) { out.add(content.bytes()); });
}

/// A tokenizer's own files in a folder.
constexpr std::array tokenizers{"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model"};

/// A file and the name by which Hugging Face's libraries look for it.
struct published_file {
  fs::path file;
  std::string name;
};

const char* name_of(const fs::path& file) {
  if (file.extension() == ".txt") return "vocab.txt";
  return file.extension() == ".model" ? "tokenizer.model" : "tokenizer.json";
}

/// A vocabulary without merges is a WordPiece vocabulary.
std::vector<published_file> files_of(const tokenizer_choice& t) {
  if (!t.file.empty()) return {{t.file, name_of(t.file)}};
  if (t.vocab.empty()) return {};
  if (t.merges.empty()) return {{t.vocab, "vocab.txt"}};
  return {{t.vocab, "vocab.json"}, {t.merges, "merges.txt"}};
}

template <class Names>
std::size_t copy_found(durable_folder& into, const fs::path& from, const Names& names) {
  std::size_t found = 0;
  for (const char* const name : names)
    if (fs::is_regular_file(from / name)) {
      copy(into, name, from / name);
      ++found;
    }
  return found;
}

void copy_folder(durable_folder& into, const fs::path& folder) {
  if (copy_found(into, folder, tokenizers) == 0)
    throw fault_error{fault_code::bad_input, fmt::format("the tokenizer's folder {} has none of the files {}",
                                                         folder.string(), fmt::join(tokenizers, ", "))};
  copy_found(into, folder, companions);
}

}  // namespace

tokenizer_choice named_tokenizer(const std::string& name) {
  if (name.empty())
    throw fault_error{fault_code::bad_input, "--tokenizer is empty; give bytes, a tokenizer.json or its folder"};
  if (name == "bytes") return {};
  kind_of(name, "--tokenizer");
  return {.file = name};
}

void copy_tokenizer_files(durable_folder& into, const tokenizer_choice& tokenizer) {
  if (fs::is_directory(tokenizer.file)) return copy_folder(into, tokenizer.file);
  std::set<fs::path> folders;
  for (const auto& [file, name] : files_of(tokenizer)) {
    copy(into, name, file);
    folders.insert(file.parent_path());
  }
  if (folders.size() == 1) copy_found(into, *folders.begin(), companions);
}

void copy_checkpoint_files(durable_folder& into, const fs::path& checkpoint) {
  if (!checkpoint.empty()) copy_found(into, checkpoint, checkpoint_companions);
}

}  // namespace hydra::apps
