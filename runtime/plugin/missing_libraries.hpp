#pragma once
// Which shared libraries are missing: the loader names only the first.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

/// The names of libraries that a shared object needs, itself or through others, and the loader does not find. None if it
/// is no shared object. Libraries that lie outside of its own folders and those of LD_LIBRARY_PATH are loaded to find out.
std::vector<std::string> missing_libraries(const std::filesystem::path& file);

}  // namespace hydra
