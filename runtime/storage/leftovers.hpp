#pragma once
// Temporary files and folders of write_atomically() and durable_folder: their names, and the removal of those whose
// process was killed.

#include "runtime/storage/file_system.hpp"

#include <cstddef>
#include <filesystem>

#include <sys/types.h>

namespace hydra {

/// `.<name>.<pid>.tmp` next to `place`.
std::filesystem::path temporary_path(const std::filesystem::path& place, pid_t process);

/// Removes what killed processes have left in `parent`, and returns the number of files and folders removed; 0 if
/// `parent` does not exist. This process's own id counts as killed, because in a container each run may have the same
/// id: call it before anything is written there. Throws fault_error{io}.
std::size_t remove_leftovers(file_system& files, const std::filesystem::path& parent);

}  // namespace hydra
