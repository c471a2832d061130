#pragma once
// The steps of runs on other threads, and the end of one, as something to wait for.

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace hydra::test {

class step_signal {
 public:
  void step() {
    {
      const std::lock_guard lock(mutex_);
      ++steps_;
    }
    changed_.notify_all();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }
  std::size_t steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }
  /// Until so many steps are done; false if the run ends before.
  bool wait_for(std::size_t steps) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return steps_ >= steps || ended_; });
    return steps_ >= steps;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::size_t steps_ = 0;
  bool ended_ = false;
};

}  // namespace hydra::test
