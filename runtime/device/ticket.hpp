#pragma once
// Tickets: handles of asynchronous device operations.

#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"

#include <compare>
#include <cstdint>
#include <functional>

namespace hydra {

/// Names one operation of one device. 0 = no operation, always complete. Tickets increase in the order of submission.
struct ticket {
  std::uint64_t value = 0;
  explicit operator bool() const noexcept { return value != 0; }
  friend auto operator<=>(const ticket&, const ticket&) = default;

  friend auto inspect(auto& f, ticket& x) { return f(x.value); }
};

/// How an operation ended. The times are those of its execution on its queue (waiting for tickets excluded), on
/// steady_clock or, for simulated devices, on the virtual clock.
struct completion {
  ticket operation;
  time_point begin;
  time_point end;
  fault error;  ///< none if it succeeded; dependency_failed if it was skipped
};

/// Called on a thread of the device; must not block, only post a message.
using completion_sink = std::function<void(const completion&)>;

}  // namespace hydra
