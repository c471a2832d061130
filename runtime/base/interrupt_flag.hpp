#pragma once
// From any thread to whoever can stop what is going on.

#include <functional>
#include <mutex>
#include <utility>

namespace hydra {

/// Remembers calls that came before anybody listened. Thread-safe; the listener is called under the line's lock and must
/// only post a message.
class interrupt_flag {
 public:
  void interrupt() {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (listener_) {
      listener_();
    }
  }

  /// `listener` hears every call, those of before, too.
  void connect(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    for (int i = 0; i < calls_; ++i) {
      listener_();
    }
  }

  /// On return the listener is not called any more, and gone.
  void disconnect() {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
  }

  bool interrupted() const {
    const std::lock_guard lock(mutex_);
    return calls_ > 0;
  }

 private:
  mutable std::mutex mutex_;
  std::function<void()> listener_;
  int calls_ = 0;
};

}  // namespace hydra
