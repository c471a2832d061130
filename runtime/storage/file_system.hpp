#pragma once
// The operations a durable write is made of. An interface, so that tests can let each of them fail.

#include "runtime/base/fault.hpp"
#include "runtime/storage/writable_file.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

namespace hydra {

/// Each operation throws file_error() if the system refuses it, and has then changed nothing, remove_all() aside.
class file_system {
 public:
  virtual ~file_system() = default;

  /// Makes an empty file and opens it; refused if anything has that name.
  virtual std::unique_ptr<writable_file> create(const std::filesystem::path& file) = 0;
  /// Makes an empty folder in one that exists; refused if anything has that name.
  virtual void make_folder(const std::filesystem::path& folder) = 0;
  /// Atomic within one file system. A folder replaces nothing but an empty folder.
  virtual void rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Waits until the folder's entries (names made, renamed, removed) have reached the disk.
  virtual void sync_folder(const std::filesystem::path& folder) = 0;
  /// Removes a file, or a folder with all that is in it. Does nothing if there is none.
  virtual void remove_all(const std::filesystem::path& path) = 0;
};

/// The machine's own. Has no state: one object serves all threads.
file_system& posix_file_system() noexcept;

/// Makes `folder` and what is missing above it, each on the disk on return. Throws fault_error{io}.
void make_folders(file_system& files, const std::filesystem::path& folder);

/// What a refused operation throws: fault_error{io}, "rename to /a/b: No space left on device". `error` is an errno.
fault_error file_error(std::string_view operation, const std::filesystem::path& path, int error);

}  // namespace hydra
