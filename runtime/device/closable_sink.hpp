#pragma once
// A receiver of completions that can be closed before its device is destroyed: a device that hangs keeps its sink
// forever.

#include "runtime/device/ticket.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace hydra {

/// Passes completions on until it is closed. Thread-safe; copies of what sink() returns share it and may outlive it.
class closable_sink {
 public:
  closable_sink() = default;
  closable_sink(const closable_sink&) = delete;
  closable_sink& operator=(const closable_sink&) = delete;
  ~closable_sink() { close(); }

  /// `inside` must not call open or close.
  void open(completion_sink inside) {
    const std::lock_guard lock{inside_->mutex};
    inside_->sink = std::move(inside);
  }

  /// Passed to the device. Drops completions before open() and after close().
  completion_sink sink() const {
    return [target = inside_](const completion& c) {
      const std::lock_guard lock{target->mutex};
      if (target->sink) target->sink(c);
    };
  }

  /// When this returns, no call is in progress and none will follow; what was passed to open() has been destroyed.
  void close() {
    completion_sink last;  // destroyed without the lock
    const std::lock_guard lock{inside_->mutex};
    std::swap(last, inside_->sink);
  }

 private:
  struct target {
    std::mutex mutex;
    completion_sink sink;
  };
  std::shared_ptr<target> inside_ = std::make_shared<target>();
};

}  // namespace hydra
