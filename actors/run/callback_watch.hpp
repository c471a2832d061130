#pragma once
// Sees that a user's callback returns in time.

#include "runtime/base/bytes.hpp"

#include <optional>
#include <string>
#include <utility>

namespace hydra {

class callback_watch {
 public:
  /// `limit`: zero for none.
  explicit callback_watch(duration limit) : limit_(limit) {}

  /// `what`: "step 3 of gpt-a".
  void began(std::string what, time_point now) { callback_ = {std::move(what), now}; }
  void ended() { callback_.reset(); }

  /// When to look again, if a callback is under way and nobody is to look yet.
  std::optional<duration> next_look(time_point now) {
    if (!callback_ || limit_ <= duration{} || std::exchange(looks_, true)) {
      return std::nullopt;
    }
    return callback_->second + limit_ - now;
  }

  /// Called when it was time to look: why the controller is given up, if the callback takes too long.
  std::optional<std::string> late(time_point now) {
    looks_ = false;
    if (!callback_ || now - callback_->second < limit_) {
      return std::nullopt;
    }
    return "a callback has not returned within " + to_string(limit_) + " after " + callback_->first;
  }

 private:
  duration limit_;
  std::optional<std::pair<std::string, time_point>> callback_;   ///< under way, and since when
  bool looks_ = false;                                           ///< a look is planned
};

}  // namespace hydra
