#pragma once
// Forwards interrupts from any thread to a listener that may be connected later.

#include <functional>
#include <mutex>
#include <utility>

namespace hydra {

/// Remembers interrupts that arrive before a listener is connected. Thread-safe; the listener is called with the mutex
/// held and must only post a message.
class interrupt_flag {
 public:
  void interrupt() {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (listener_) {
      listener_();
    }
  }

  /// `listener` is called once for every interrupt, including those that arrived before.
  void connect(std::function<void()> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    for (int i = 0; i < calls_; ++i) {
      listener_();
    }
  }

  /// When this returns, the listener has been destroyed and is not called any more.
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
