#pragma once
// When a write that has failed is tried again: after a second, then after twice as long each time.

#include "runtime/base/bytes.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace hydra {

class write_retry {
 public:
  static constexpr duration first_wait = std::chrono::seconds(1);
  static constexpr duration longest_wait = std::chrono::minutes(1);

  /// `limit`: after so long without success it is over; zero: never.
  explicit write_retry(duration limit) : limit_(limit) {}

  /// True for the first failure since the last success.
  bool failed(time_point now) {
    const bool first = !since_;
    since_ = since_.value_or(now);
    return first;
  }
  /// True if it had failed before.
  bool succeeded() {
    const bool had_failed = since_.has_value();
    since_.reset();
    wait_ = first_wait;
    return had_failed;
  }

  duration limit() const { return limit_; }
  /// It has failed for as long as the limit.
  bool is_over(time_point now) const { return since_ && limit_ > duration{} && now - *since_ >= limit_; }

  /// From now on without limit.
  void be_patient() { limit_ = {}; }

  /// When to try again; none while a time is set already: other events may try before it.
  std::optional<duration> next_try(time_point now) {
    if (!since_ || is_set_) {
      return std::nullopt;
    }
    is_set_ = true;
    const auto wait = wait_;
    wait_ = std::min(2 * wait_, longest_wait);
    return limit_ > duration{} ? std::min(wait, *since_ + limit_ - now) : wait;
  }
  /// That time has come.
  void is_due() { is_set_ = false; }

 private:
  duration limit_;
  std::optional<time_point> since_;
  duration wait_ = first_wait;
  bool is_set_ = false;
};

}  // namespace hydra
