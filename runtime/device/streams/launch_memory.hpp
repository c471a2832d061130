#pragma once
// Device memory from which closures allocate while they only launch work.

#include "runtime/device/device.hpp"
#include "runtime/device/streams/launch_point.hpp"

#include <functional>
#include <memory>

namespace hydra {

/// Told by the device what is launched and what is done. Thread-safe.
class launch_memory {
 public:
  virtual ~launch_memory() = default;
  /// The calling thread launches this operation, until the handle dies: what it allocates meanwhile comes from here, and
  /// what it frees is free for what the same queue launches next. `drain` returns when all that the thread has launched so
  /// far is done.
  virtual std::shared_ptr<void> launch(const launch_point& operation, std::function<void()> drain) = 0;
  /// The device has done it, and all before it on its queue. Once for each launch.
  virtual void retire(const launch_point& operation) noexcept = 0;
  /// Nobody waits for bytes any more.
  virtual void give_up() noexcept = 0;
  virtual memory_usage usage() const noexcept = 0;
};

}  // namespace hydra
