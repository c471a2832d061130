#pragma once
// A receiver of events, such as a device's completions, that can be closed while those who send them live on: a device
// that hangs keeps its sink forever.

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace hydra {

/// Passes events on until it is closed. Thread-safe; copies of what sink() returns share it and may outlive it.
template <class Event>
class closable_sink {
 public:
  using function = std::function<void(const Event&)>;

  closable_sink() = default;
  closable_sink(const closable_sink&) = delete;
  closable_sink& operator=(const closable_sink&) = delete;
  ~closable_sink() { close(); }

  /// `inside` must not call open or close.
  void open(function inside) {
    const std::lock_guard lock{inside_->mutex};
    inside_->sink = std::move(inside);
  }

  /// Drops events before open() and after close().
  function sink() const {
    return [target = inside_](const Event& e) {
      const std::lock_guard lock{target->mutex};
      if (target->sink) target->sink(e);
    };
  }

  /// When this returns, no call is in progress and none will follow; what was passed to open() has been destroyed.
  void close() {
    function last;  // destroyed without the lock
    const std::lock_guard lock{inside_->mutex};
    std::swap(last, inside_->sink);
  }

 private:
  struct target {
    std::mutex mutex;
    function sink;
  };
  std::shared_ptr<target> inside_ = std::make_shared<target>();
};

}  // namespace hydra
