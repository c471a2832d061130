#include "apps/commands/tokenizer_files.hpp"

#include "apps/workload/convert.hpp"
#include "models/data/mapped_file.hpp"
#include "runtime/durable_folder.hpp"

#include <array>
#include <filesystem>
#include <set>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// What lies beside a tokenizer's own files and says how they are used.
constexpr std::array companions{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

void copy(durable_folder& into, const std::string& name, const fs::path& file) {
  const mapped_file content{file};
  into.write(name, [&](byte_sink& out) { out.add(content.bytes()); });
}

/// The name by which Hugging Face's libraries look for the file under that key of `tokenizer = { ... }`.
std::string published_name(const std::string& key, const fs::path& file) {
  if (key == "vocab") return "vocab.json";
  if (key == "merges") return "merges.txt";
  return file.extension() == ".txt" ? "vocab.txt" : "tokenizer.json";
}

}  // namespace

void copy_tokenizer_files(durable_folder& into, const value_table& data) {
  const value* const named = data.find("tokenizer");
  const auto* table = named ? named->as<value_table>() : nullptr;
  if (!table) return;
  std::set<fs::path> folders;
  for (const char* const key : {"file", "vocab", "merges"})
    if (const value* const file = table->find(key)) {
      const fs::path path = to<std::string>(*file);
      copy(into, published_name(key, path), path);
      folders.insert(path.parent_path());
    }
  for (const char* const name : companions)
    if (folders.size() == 1 && fs::is_regular_file(*folders.begin() / name)) copy(into, name, *folders.begin() / name);
}

}  // namespace hydra::apps
