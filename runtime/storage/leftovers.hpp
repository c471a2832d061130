#pragma once
// Temporary files and folders of write_atomically() and durable_folder: their names, and what becomes of those whose process
// was killed.

#include "runtime/storage/file_system.hpp"

#include <cstddef>
#include <filesystem>

#include <sys/types.h>

namespace hydra {

/// `.<name>.<pid>.tmp` beside `place`.
std::filesystem::path temporary_path(const std::filesystem::path& place, pid_t process);

/// Removes what killed processes have left in `parent`, and says how many files and folders that were; none if there is no
/// `parent`. This process's number counts as killed, for in a container each run may have the same: call it before the
/// first is written there. Throws fault_error{io}.
std::size_t remove_leftovers(file_system& files, const std::filesystem::path& parent);

}  // namespace hydra
