#pragma once
// What work on a device takes: for the pilot.

#include "runtime/base/bytes.hpp"

#include <memory>

namespace hydra {

/// Lives in one closure of a device's queue, on the thread that runs it. While it does, the tensors that this thread
/// makes are charged to it and not to the device: without limit, so that a small budget can be told what would be enough.
class work_meter {
 public:
  virtual ~work_meter() = default;
  /// When all that this thread has launched so far has been done.
  virtual time_point now() = 0;
  virtual byte_count used() const noexcept = 0;
  virtual byte_count peak() const noexcept = 0;
  /// Starts a new peak measurement from what is in use now.
  virtual void reset_peak() noexcept = 0;
};

/// Of a device whose closures do their work themselves, with tensors on the CPU.
std::unique_ptr<work_meter> make_host_meter();

}  // namespace hydra
