#pragma once
// A folder that appears complete or not at all, whatever fails: the process, the machine, the disk's free space.

#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Files are written into `.<name>.<pid>.tmp` next to the place; commit() renames it. Other folders are never touched.
/// Failed operations throw fault_error{io}, "cannot write <place>: <operation> <path>: <reason>", and remove what was
/// written; then the object can only be destroyed. If the disk refuses the clean-up as well, a leftover remains, or the
/// complete folder if only the sync of its name failed. For one thread. Keeps up to 64 files open.
class durable_folder {
 public:
  /// `place` must not exist, its parent folder must (see make_folders()). `files` outlives the object.
  durable_folder(file_system& files, const std::filesystem::path& place);
  /// Removes what was not committed.
  ~durable_folder();
  durable_folder(const durable_folder&) = delete;
  durable_folder& operator=(const durable_folder&) = delete;

  /// Adds a file with the bytes that `content` writes to the sink. On return the system has the bytes (the caller's
  /// memory may change), but they may not be on the disk yet. What `content` throws is passed on after the folder was
  /// removed. Throws fault_error{bad_input} if the name is not can_be_listed().
  void write(const std::string& name, const std::function<void(byte_sink&)>& content);
  void write(const std::string& name, std::string_view text);
  /// The checksums of what was written so far.
  const std::vector<checksum>& written() const noexcept { return sums_; }
  /// Adds SHA256SUMS, waits until all is on the disk, and renames the folder: on return it survives a crash of the
  /// machine.
  void commit();

 private:
  enum class state { open, committed, abandoned };

  void attempt(const std::function<void()>& step);
  void store(const std::string& name, const std::function<void(byte_sink&)>& content);
  void settle_files();
  void publish();
  void abandon() noexcept;

  file_system& files_;
  std::filesystem::path place_, temporary_;
  state state_ = state::open;
  std::vector<std::unique_ptr<writable_file>> unsettled_;  ///< written, not yet known to be on the disk
  std::vector<checksum> sums_;
};

}  // namespace hydra
