#pragma once
// Measures the time and memory of work on a device: for the pilot.

#include "runtime/base/bytes.hpp"

#include <memory>

namespace hydra {

/// Exists in one closure of a device's queue, on the thread that runs it. While it exists, tensors that this thread
/// creates are charged to it and not to the device, without a limit: so the bytes that would suffice can be measured on
/// a small budget.
class work_meter {
 public:
  virtual ~work_meter() = default;
  /// The time when all that this thread has launched so far was done.
  virtual time_point now() = 0;
  virtual byte_count used() const noexcept = 0;
  virtual byte_count peak() const noexcept = 0;
  /// Resets the peak to the current value.
  virtual void reset_peak() noexcept = 0;
};

/// For a device whose closures do their work themselves, with tensors on the CPU.
std::unique_ptr<work_meter> make_host_meter();

}  // namespace hydra
