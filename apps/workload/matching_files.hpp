#pragma once
// Patterns of file names.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// The files that a pattern of the shell matches (*, ?, [abc]), in the order of their names; the path itself if it has
/// none of these characters, or if there is a file of that very name.
std::vector<std::filesystem::path> matching_files(const std::string& pattern);

}  // namespace hydra::apps
