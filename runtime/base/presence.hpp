#pragma once
// Whether a call of an object's function is under way on some thread, for the object's destructor.

#include "runtime/base/bytes.hpp"

#include <condition_variable>
#include <mutex>

namespace hydra {

/// Thread-safe. May be destroyed as soon as gone_within() has returned true.
class presence {
 public:
  /// Somebody is there while it exists.
  class [[nodiscard]] stay {
   public:
    explicit stay(presence& of) : of_(of) {
      const std::lock_guard lock(of_.mutex_);
      ++of_.there_;
    }
    ~stay() {
      const std::lock_guard lock(of_.mutex_);
      --of_.there_;
      of_.changed_.notify_all();  // with the mutex held: who waits may destroy both right after
    }
    stay(const stay&) = delete;
    stay& operator=(const stay&) = delete;

   private:
    presence& of_;
  };

  bool is_there() const {
    const std::lock_guard lock(mutex_);
    return there_ > 0;
  }

  /// Waits until nobody is there any more; false if somebody still is after `limit`.
  bool gone_within(duration limit) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return there_ == 0; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int there_ = 0;
};

}  // namespace hydra
