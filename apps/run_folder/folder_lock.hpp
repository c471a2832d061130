#pragma once
// One run at a time in a run folder, one node in the folder of its checkpoints.

#include <filesystem>

namespace hydra::apps {

/// The process holds the lock until it ends, in whatever way; no file stays in the folder.
class folder_lock {
 public:
  explicit folder_lock(const std::filesystem::path& folder);
  ~folder_lock();
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

  /// Another process has it. False where that cannot be known.
  bool taken() const { return taken_; }

 private:
  int descriptor_;
  bool taken_;
};

/// Whether another process runs in the folder. False where that cannot be known.
bool is_locked(const std::filesystem::path& folder);

}  // namespace hydra::apps
