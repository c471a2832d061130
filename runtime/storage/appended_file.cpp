#include "runtime/storage/appended_file.hpp"

#include "runtime/storage/file_system.hpp"
#include "runtime/base/uninterrupted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace hydra {

appended_file::~appended_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void appended_file::append(std::string_view entry) {
  whole_or_nothing([&] { write(entry); });
}

void appended_file::append_durably(std::string_view entry) {
  whole_or_nothing([&] {
    write(entry);
    sync();
  });
}

template <class Action>
void appended_file::whole_or_nothing(const Action& action) {
  open();
  cut_off();
  torn_at_ = ::lseek(descriptor_, 0, SEEK_END);
  try {
    action();
  } catch (const fault_error&) {
    try {
      cut_off();
    } catch (const fault_error&) {  // the first failure is reported; the next entry tries again
    }
    throw;
  }
  torn_at_.reset();
}

void appended_file::open() {
  if (descriptor_ >= 0) return;
  descriptor_ = uninterrupted([&] { return ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); });
  if (descriptor_ < 0) throw file_error("open", file_, errno);
}

/// What is not a regular file has no size (-1): there is nothing to cut.
void appended_file::cut_off() {
  if (!torn_at_) return;
  if (*torn_at_ >= 0 && uninterrupted([&] { return ::ftruncate(descriptor_, *torn_at_); }) < 0)
    throw file_error("cut off a torn entry of", file_, errno);
  torn_at_.reset();
}

void appended_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (n < 0) throw file_error("write", file_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void appended_file::sync() {
  if (uninterrupted([&] { return ::fsync(descriptor_); }) < 0) throw file_error("sync", file_, errno);
  if (name_is_safe_) return;
  const auto folder = file_.parent_path();
  posix_file_system().sync_folder(folder.empty() ? "." : folder);
  name_is_safe_ = true;
}

}  // namespace hydra
