#pragma once
// Device memory from which closures allocate while they only launch work.

#include "runtime/device/device.hpp"
#include "runtime/device/streams/launch_point.hpp"

#include <functional>
#include <memory>

namespace hydra {

/// The device reports to it what has been launched and what is done. Thread-safe.
class launch_memory {
 public:
  virtual ~launch_memory() = default;
  /// The calling thread launches this operation until the handle is destroyed: what it allocates meanwhile comes from
  /// this memory, and what it frees is free for the next operations of the same queue. `drain` returns when all that
  /// the thread has launched so far is done.
  virtual std::shared_ptr<void> launch(const launch_point& operation, std::function<void()> drain) = 0;
  /// The device has done this operation and all before it on its queue. Called once per launch.
  virtual void retire(const launch_point& operation) noexcept = 0;
  /// No thread waits for bytes from now on.
  virtual void give_up() noexcept = 0;
  virtual memory_usage usage() const noexcept = 0;
};

}  // namespace hydra
