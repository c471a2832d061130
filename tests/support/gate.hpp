#pragma once
// Waiting in tests: always for an event, never longer than a limit that only a hanging program reaches.

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hydra::test {

inline constexpr std::chrono::seconds patience{300};

/// Closed until a thread opens it, then open for good.
class gate {
 public:
  void open() {
    {
      const std::lock_guard lock{mutex_};
      open_ = true;
    }
    opened_.notify_all();
  }

  /// True once it is open, false if it was not opened within the limit.
  bool wait() {
    std::unique_lock lock{mutex_};
    return opened_.wait_for(lock, patience, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

/// Opens a gate at the end of a scope: a failing test must not make an operation wait for the limit.
class opens_at_exit {
 public:
  explicit opens_at_exit(gate& g) : gate_(g) {}
  ~opens_at_exit() { gate_.open(); }
  opens_at_exit(const opens_at_exit&) = delete;
  opens_at_exit& operator=(const opens_at_exit&) = delete;

 private:
  gate& gate_;
};

}  // namespace hydra::test
