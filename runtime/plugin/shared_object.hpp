#pragma once
// What the loader reads from an ELF file.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct shared_object {
  std::vector<std::string> needed;                ///< names of the libraries that are loaded with it
  std::vector<std::filesystem::path> run_path;    ///< folders that are searched first; $ORIGIN is replaced
  bool passes_run_path_on = false;                ///< its libraries search them for their own libraries, too (DT_RPATH)
};

/// For a shared object or a program. Empty if the file is not an ELF file of this machine with a dynamic section.
std::optional<shared_object> read_shared_object(const std::filesystem::path& file);

/// The minimum size of an ELF file of this machine according to its header and tables: the loader maps the file without
/// checking, and a program that reads beyond the end of a file is killed. 0 for any other file; beyond_all if its
/// tables contradict each other.
std::uint64_t least_size(const std::filesystem::path& file);

inline constexpr std::uint64_t beyond_all = std::numeric_limits<std::uint64_t>::max();

}  // namespace hydra
