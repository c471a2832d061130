#include "apps/commands/tokenizer_files.hpp"

#include "models/data/mapped_file.hpp"
#include "runtime/durable_folder.hpp"

#include <array>
#include <filesystem>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// As Hugging Face's libraries name them.
constexpr std::array names{"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                           "vocab.json",     "merges.txt",            "vocab.txt"};

void copy(durable_folder& into, const fs::path& file) {
  const mapped_file content{file};
  into.write(file.filename().string(), [&](byte_sink& out) { out.add(content.bytes()); });
}

}  // namespace

void copy_tokenizer_files(durable_folder& into, const value_table& data) {
  const value* const named = data.find("tokenizer");
  const auto* path = named ? named->as<std::string>() : nullptr;
  if (!path) return;
  const fs::path folder = fs::is_directory(*path) ? fs::path{*path} : fs::path{*path}.parent_path();
  for (const char* const name : names)
    if (fs::is_regular_file(folder / name)) copy(into, folder / name);
}

}  // namespace hydra::apps
