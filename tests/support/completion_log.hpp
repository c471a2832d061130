#pragma once
// Receives the completions of a device and lets a test wait for them.

#include "runtime/device/ticket.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace hydra::test {

/// Thread-safe. Must outlive the device that reports to it.
class completion_log {
 public:
  completion_sink sink();

  /// How the operation ended. Throws std::runtime_error if it does not end within the limit.
  completion wait_for(ticket t) const;
  /// All completions in order of arrival, once there are `n`. Throws as wait_for does.
  std::vector<completion> wait_for_count(std::size_t n) const;
  /// All completions so far, in order of arrival.
  std::vector<completion> all() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  std::vector<completion> completions_;
};

}  // namespace hydra::test
