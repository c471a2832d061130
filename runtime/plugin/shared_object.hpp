#pragma once
// What an ELF file tells the loader.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct shared_object {
  std::vector<std::string> needed;                ///< libraries that are loaded with it, by name
  std::vector<std::filesystem::path> run_path;    ///< folders where they are looked for first; $ORIGIN is replaced
  bool passes_run_path_on = false;                ///< its libraries look there for theirs, too (DT_RPATH)
};

/// Of a shared object or a program. Nothing if the file is no ELF file of this machine with a dynamic section.
std::optional<shared_object> read_shared_object(const std::filesystem::path& file);

/// How many bytes an ELF file of this machine has at least, as its header and its tables say: the loader maps them without
/// looking, and a program that reads beyond the end of a file is ended. 0 for any other file; beyond_all for one whose
/// tables contradict themselves.
std::uint64_t least_size(const std::filesystem::path& file);

inline constexpr std::uint64_t beyond_all = std::numeric_limits<std::uint64_t>::max();

}  // namespace hydra
