#include "apps/commands/tokenizer_files.hpp"

#include "apps/workload/convert.hpp"
#include "models/data/mapped_file.hpp"
#include "runtime/durable_folder.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// What lies beside a tokenizer's own files and says how they are used.
constexpr std::array companions{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

/// What lies beside a checkpoint's weights and says how they are used.
constexpr std::array checkpoint_companions{"generation_config.json", "chat_template.jinja", "preprocessor_config.json"};

void copy(durable_folder& into, const std::string& name, const fs::path& file) {
  const mapped_file content{file};
  into.write(name, [&](byte_sink& out) { out.add(content.bytes()); });
}

/// A tokenizer's own files in a folder.
constexpr std::array tokenizers{"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt"};

/// The name by which Hugging Face's libraries look for the file under that key of `tokenizer = { ... }`: a vocabulary without
/// merges is one of WordPiece.
std::string published_name(const std::string& key, const fs::path& file, bool merges) {
  if (key == "vocab") return merges ? "vocab.json" : "vocab.txt";
  if (key == "merges") return "merges.txt";
  return file.extension() == ".txt" ? "vocab.txt" : "tokenizer.json";
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

void copy_tokenizer_files(durable_folder& into, const value_table& data) {
  const value* const named = data.find("tokenizer");
  const auto* table = named ? named->as<value_table>() : nullptr;
  if (!table) return;
  if (const value* const file = table->find("file"))
    if (const fs::path folder = to<std::string>(*file); fs::is_directory(folder)) return copy_folder(into, folder);
  std::set<fs::path> folders;
  for (const char* const key : {"file", "vocab", "merges"})
    if (const value* const file = table->find(key)) {
      const fs::path path = to<std::string>(*file);
      copy(into, published_name(key, path, table->find("merges") != nullptr), path);
      folders.insert(path.parent_path());
    }
  if (folders.size() == 1) copy_found(into, *folders.begin(), companions);
}

void copy_checkpoint_files(durable_folder& into, const value_table& chain) {
  const value* const from = chain.find("from");
  if (from) copy_found(into, to<std::string>(*from), checkpoint_companions);
}

}  // namespace hydra::apps
