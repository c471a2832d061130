#pragma once
// A folder that appears complete or not at all, whatever dies: the process, the machine, the disk's free space.

#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/checksum_list.hpp"
#include "runtime/storage/file_system.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// Files are written into `.<name>.<pid>.tmp` beside the place; commit() gives it its name. Other folders are never
/// touched. Refused operations throw fault_error{io}, "cannot write <place>: <operation> <path>: <reason>", and leave
/// nothing behind; all that can be done then is to destroy the object. Only a disk that refuses the clean-up too keeps
/// a leftover, or the complete folder if its name was all that could not be synced.
/// For one thread. Keeps up to 64 files open.
class durable_folder {
 public:
  /// `place` does not exist, the folder that it shall be in does (see make_folders()). `files` outlives the object.
  durable_folder(file_system& files, const std::filesystem::path& place);
  /// Removes what was not committed.
  ~durable_folder();
  durable_folder(const durable_folder&) = delete;
  durable_folder& operator=(const durable_folder&) = delete;

  /// Adds a file of what `content` gives to the sink. On return the bytes are in the system's hands, not yet on the
  /// disk: the caller's memory may change. What `content` throws comes through, after the folder was removed.
  /// Throws fault_error{bad_input} if the name is not can_be_listed().
  void write(const std::string& name, const std::function<void(byte_sink&)>& content);
  /// Adds SHA256SUMS, waits until all is on the disk, and gives the folder its name: on return it survives the machine.
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
