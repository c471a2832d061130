#pragma once
// What belongs to a tokenizer's file. Standard library only.

#include <filesystem>
#include <vector>

namespace hydra {

/// Files of the folder that open_tokenizer() reads besides the one that it is given, if they are there.
std::vector<std::filesystem::path> files_beside_tokenizer(const std::filesystem::path& folder);

}  // namespace hydra
