#include "runtime/storage/line_log.hpp"

#include "runtime/storage/file_system.hpp"
#include "runtime/storage/uninterrupted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hydra {

line_log::line_log(std::filesystem::path file, std::shared_ptr<spdlog::logger> log, line_log_options options)
    : file_(std::move(file)), log_(std::move(log)), options_(options), writer_([this] { write_batches(); }) {}

line_log::~line_log() {
  close();
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void line_log::append(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() >= options_.most_waiting) {
      ++lost_.lines;
      return;
    }
    waiting_.append(line).append(1, '\n');
    ++lines_waiting_;
  }
  changed_.notify_one();
}

line_log::losses line_log::close() {
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

void line_log::write_batches() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !waiting_.empty()) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return;  // closed without a line: creates no file
    }
    const auto text = std::exchange(waiting_, {});
    const auto lines = std::exchange(lines_waiting_, 0);
    lock.unlock();
    fault why;
    try {
      write(text);
    } catch (const fault_error& e) {
      why = e.what_happened();
    }
    tell(why);
    lock.lock();
    if (why) {
      lost_.lines += lines;
      lost_.why = why;
    }
    changed_.wait_for(lock, options_.pause, [this] { return closing_; });
  }
}

/// Appends all of it or nothing.
void line_log::write(std::string_view text) {
  if (descriptor_ < 0) {
    descriptor_ = uninterrupted([this] { return ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644); });
    if (descriptor_ < 0) {
      throw file_error("open", file_, errno);
    }
  }
  // -1 if it is not a regular file; then it is not truncated either
  const auto begin = ::lseek(descriptor_, 0, SEEK_END);
  while (!text.empty()) {
    const auto n = uninterrupted([&] { return ::write(descriptor_, text.data(), text.size()); });
    if (n < 0) {
      const int error = errno;
      static_cast<void>(::ftruncate(descriptor_, begin) == 0);
      throw file_error("write", file_, error);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Warns when writing starts to fail and when it works again.
void line_log::tell(const fault& why) {
  if (static_cast<bool>(why) == failing_) {
    return;
  }
  failing_ = static_cast<bool>(why);
  if (failing_) {
    log_->warn("lines of {} are lost: {}", file_.filename().string(), why.text);
  } else {
    log_->warn("{} can be written again", file_.filename().string());
  }
}

}  // namespace hydra
