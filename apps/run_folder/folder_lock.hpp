#pragma once
// One run at a time in a run folder.

#include "apps/workload/place.hpp"

#include <filesystem>

namespace hydra::apps {

/// The process holds the lock until it ends, in whatever way; no file stays in the folder.
class folder_lock {
 public:
  /// Throws fault_error{bad_input} if another process runs in the folder. `where` chose it.
  folder_lock(const place& where, const std::filesystem::path& folder);
  ~folder_lock();
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  int descriptor_;
};

/// Whether another process runs in the folder. False where that cannot be known.
bool is_locked(const std::filesystem::path& folder);

}  // namespace hydra::apps
