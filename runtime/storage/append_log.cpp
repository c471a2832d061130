#include "runtime/storage/append_log.hpp"

#include "runtime/storage/file_system.hpp"
#include "runtime/storage/uninterrupted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hydra {

append_log::append_log(std::shared_ptr<spdlog::logger> log, append_log_options options)
    : log_(std::move(log)), options_(options), writer_([this] { write_batches(); }) {}

append_log::~append_log() {
  close();
  for (const auto& [file, descriptor] : descriptors_) {
    ::close(descriptor);
  }
}

void append_log::append(const std::filesystem::path& file, std::string_view entry) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes_waiting_ + entry.size() > options_.most_waiting) {
      ++lost_[file].entries;
      return;
    }
    auto& batch = waiting_[file];
    batch.bytes.append(entry);
    ++batch.entries;
    bytes_waiting_ += entry.size();
  }
  changed_.notify_one();
}

std::map<std::filesystem::path, append_log::losses> append_log::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) {
    writer_.join();
  }
  return lost_;
}

void append_log::write_batches() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !waiting_.empty()) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    const auto taken = std::exchange(waiting_, {});
    bytes_waiting_ = 0;
    for (const auto& [file, batch] : taken) {
      lock.unlock();
      const auto why = write(file, batch.bytes);
      lock.lock();
      if (why) {
        lost_[file].entries += batch.entries;
        lost_[file].why = why;
      }
    }
    changed_.wait_for(lock, options_.pause, [this] { return closing_; });
  }
}

fault append_log::write(const std::filesystem::path& file, std::string_view bytes) {
  fault why;
  try {
    append_to(file, bytes);
  } catch (const fault_error& e) {
    why = e.what_happened();
  }
  tell(file, why);
  return why;
}

/// Appends all of it or nothing.
void append_log::append_to(const std::filesystem::path& file, std::string_view bytes) {
  if (!descriptors_.contains(file)) {
    const int opened = uninterrupted([&] { return ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); });
    if (opened < 0) {
      throw file_error("open", file, errno);
    }
    descriptors_[file] = opened;
  }
  const int descriptor = descriptors_.at(file);
  // -1 if it is not a regular file; then it is not truncated either
  const auto begin = ::lseek(descriptor, 0, SEEK_END);
  while (!bytes.empty()) {
    const auto n = uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (n < 0) {
      const int error = errno;
      static_cast<void>(::ftruncate(descriptor, begin) == 0);
      throw file_error("write", file, error);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Warns when writing starts to fail and when it works again.
void append_log::tell(const std::filesystem::path& file, const fault& why) {
  if (static_cast<bool>(why) == failing_.contains(file)) {
    return;
  }
  if (why) {
    failing_.insert(file);
    log_->warn("entries of {} are lost: {}", file.filename().string(), why.text);
  } else {
    failing_.erase(file);
    log_->warn("{} can be written again", file.filename().string());
  }
}

}  // namespace hydra
