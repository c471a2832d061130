#include "apps/run_folder/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>

namespace hydra::apps {

/// A file system without locks does not prevent training: such errors are ignored.
folder_lock::folder_lock(const place& where, const std::filesystem::path& folder)
    : descriptor_{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
  const bool taken = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
  if (!taken) return;
  ::close(descriptor_);
  refuse(where, "run.output",
         fmt::format("another run is under way in \"{}\": wait for its end, or choose another folder by --output",
                     folder.string()));
}

folder_lock::~folder_lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace hydra::apps
