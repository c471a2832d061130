#pragma once
// Which shared libraries are missing: the loader names only the first.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

/// The names of libraries that a shared object needs, directly or through others, and that the loader does not find.
/// Empty if it is not a shared object. Libraries outside of its own folders and those of LD_LIBRARY_PATH are loaded to
/// find out.
std::vector<std::string> missing_libraries(const std::filesystem::path& file);

}  // namespace hydra
