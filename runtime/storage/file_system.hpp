#pragma once
// The operations of a durable write. An interface, so that tests can make each of them fail.

#include "runtime/base/fault.hpp"
#include "runtime/storage/writable_file.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

namespace hydra {

/// Each operation throws file_error() if the system refuses it, and has then changed nothing, except remove_all().
class file_system {
 public:
  virtual ~file_system() = default;

  /// Creates an empty file and opens it; fails if the name exists.
  virtual std::unique_ptr<writable_file> create(const std::filesystem::path& file) = 0;
  /// Creates an empty folder in an existing one; fails if the name exists.
  virtual void make_folder(const std::filesystem::path& folder) = 0;
  /// Atomic within one file system. A folder can replace only an empty folder.
  virtual void rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Waits until the folder's entries (names created, renamed, removed) are on the disk.
  virtual void sync_folder(const std::filesystem::path& folder) = 0;
  /// Removes a file, or a folder with all its content. Does nothing if it does not exist.
  virtual void remove_all(const std::filesystem::path& path) = 0;
};

/// The file system of the machine. Stateless: one object serves all threads.
file_system& posix_file_system() noexcept;

/// Creates `folder` and its missing parents; all are on the disk on return. Throws fault_error{io}.
void make_folders(file_system& files, const std::filesystem::path& folder);

/// The exception of a failed operation: fault_error{io}, "rename to /a/b: No space left on device". `error` is an
/// errno.
fault_error file_error(std::string_view operation, const std::filesystem::path& path, int error);

}  // namespace hydra
