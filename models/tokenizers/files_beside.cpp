#include "models/tokenizers/files_beside.hpp"

namespace hydra {

namespace fs = std::filesystem;

std::vector<fs::path> files_beside_tokenizer(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"})
    if (fs::is_regular_file(folder / name)) all.push_back(folder / name);
  return all;
}

}  // namespace hydra
