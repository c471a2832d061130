#pragma once
// Forwards requests from any thread to a listener that may be connected later and disconnected.

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hydra {

enum class line_state : std::uint8_t {
  closed,   ///< not open yet
  open,     ///< requests are passed to the listener, or kept until there is one
  over,     ///< the listener is gone; no request is accepted any more
};

/// Thread-safe; the listener is called with the mutex held and must only post a message.
template <class Request>
class request_queue {
 public:
  /// Returns the state; the request is accepted only if `open`. An accepted request is dropped if no listener is ever
  /// connected.
  line_state offer(Request r) {
    return offer(std::move(r), [] {});
  }

  /// While the queue is closed, calls `instead`; all such calls return before the queue opens.
  template <class Action>
  line_state offer(Request r, const Action& instead) {
    const std::lock_guard lock(mutex_);
    if (state_ != line_state::open) {
      if (state_ == line_state::closed) {
        instead();
      }
      return state_;
    }
    if (listener_) {
      listener_(std::move(r));
    } else {
      kept_.push_back(std::move(r));
    }
    return line_state::open;
  }

  /// The state; while the queue is closed, `action` is called first, and returns before the queue opens.
  template <class Action>
  line_state before_opening(const Action& action) {
    const std::lock_guard lock(mutex_);
    if (state_ == line_state::closed) {
      action();
    }
    return state_;
  }

  /// Accepts requests from now on, unless the queue is over.
  void open() {
    const std::lock_guard lock(mutex_);
    if (state_ == line_state::closed) {
      state_ = line_state::open;
    }
  }

  /// `listener` receives every request, starting with those that were kept, after `first` was called: who is told by it
  /// that there is a listener finds one.
  void connect(std::function<void(Request)> listener, const std::function<void()>& first = [] {}) {
    const std::lock_guard lock(mutex_);
    first();
    listener_ = std::move(listener);
    for (auto& r : std::exchange(kept_, {})) {
      listener_(std::move(r));
    }
  }

  bool has_listener() {
    const std::lock_guard lock(mutex_);
    return listener_ != nullptr;
  }

  /// When this returns, the listener has been destroyed and is not called any more. A queue that never had a listener
  /// may be opened again.
  void close() {
    std::vector<Request> dropped;  // destroyed after the lock is released: their destructors may offer again
    const std::lock_guard lock(mutex_);
    state_ = std::exchange(listener_, nullptr) || state_ == line_state::over ? line_state::over : line_state::closed;
    dropped.swap(kept_);
  }

 private:
  std::mutex mutex_;
  line_state state_ = line_state::closed;
  std::function<void(Request)> listener_;
  std::vector<Request> kept_;
};

}  // namespace hydra
