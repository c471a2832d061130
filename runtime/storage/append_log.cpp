#include "runtime/storage/append_log.hpp"

#include <utility>

namespace hydra {

append_log::append_log(std::shared_ptr<spdlog::logger> log, append_log_options options)
    : log_(std::move(log)), options_(options), writer_([this] { write_batches(); }) {}

append_log::~append_log() { close(); }

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
    files_.try_emplace(file, file).first->second.append(bytes);
  } catch (const fault_error& e) {
    why = e.what_happened();
  }
  tell(file, why);
  return why;
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
