#pragma once
// What an ELF file tells the loader.

#include <filesystem>
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

}  // namespace hydra
