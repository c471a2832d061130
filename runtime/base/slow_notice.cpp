#include "runtime/base/slow_notice.hpp"

#include <system_error>
#include <utility>

namespace hydra {

slow_notice::slow_notice(duration limit, std::function<void(const std::string&)> say)
    : limit_(limit), say_(std::move(say)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // the machine has no thread left
  }
}

slow_notice::~slow_notice() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void slow_notice::begin(std::string what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    ++activities_;
  }
  changed_.notify_all();
}

void slow_notice::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto changed = [this, seen = activities_] { return over_ || activities_ != seen; };
    if (activities_ > 0 && !changed_.wait_for(lock, limit_, changed)) {
      say_(what_);
    }
    changed_.wait(lock, changed);
  }
}

}  // namespace hydra
