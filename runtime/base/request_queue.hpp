#pragma once
// From any thread to a listener that may come later and goes one day.

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hydra {

enum class line_state : std::uint8_t {
  closed,   ///< not open yet
  open,     ///< requests are heard, or kept for the listener
  over,     ///< nobody will listen any more
};

/// Thread-safe; the listener is called under the line's lock and must only post a message.
template <class Request>
class request_queue {
 public:
  /// Whether the request is taken: only if `open`. One that is taken but never heard is dropped.
  line_state offer(Request r) {
    return offer(std::move(r), [] {});
  }

  /// While the line is closed, `instead` is done: all of it before the line opens.
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

  /// Requests are taken from now on, unless the line is over.
  void open() {
    const std::lock_guard lock(mutex_);
    if (state_ == line_state::closed) {
      state_ = line_state::open;
    }
  }

  /// `listener` hears every request, those that were kept first.
  void connect(std::function<void(Request)> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    for (auto& r : std::exchange(kept_, {})) {
      listener_(std::move(r));
    }
  }

  /// On return the listener is not called any more, and gone. A line that nobody has listened to may be opened again.
  void close() {
    std::vector<Request> dropped;  // after the lock: who waits for one of them may offer again
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
