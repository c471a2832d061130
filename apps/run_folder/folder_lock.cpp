#include "apps/run_folder/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace hydra::apps {

namespace {

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// A file system without locks does not prevent training: such errors are ignored.
bool is_taken(int descriptor, int kind) {
  return descriptor >= 0 && ::flock(descriptor, kind | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

}  // namespace

folder_lock::folder_lock(const std::filesystem::path& folder)
    : descriptor_{open_folder(folder)}, taken_{is_taken(descriptor_, LOCK_EX)} {}

folder_lock::~folder_lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_locked(const std::filesystem::path& folder) {
  const int descriptor = open_folder(folder);
  const bool taken = is_taken(descriptor, LOCK_SH);
  if (descriptor >= 0) ::close(descriptor);
  return taken;
}

}  // namespace hydra::apps
