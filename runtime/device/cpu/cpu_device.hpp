#pragma once
// The virtual device: host threads act as a device's queues, its memory budget is enforced, its link is emulated.

#include "runtime/device/device.hpp"

#include <memory>

namespace hydra {

/// Options of a virtual device.
struct cpu_device {
  byte_count memory{};     ///< required: budget enforced by the accounting allocator
  byte_rate link{};        ///< rate in each direction; not emulated if zero
  duration latency{};      ///< per copy
  int threads = 1;         ///< intra-op threads of its compute queue
  double speed = 1.0;      ///< in (0, 1]: below 1 the device sleeps after the work
  precision numbers = precision::fp32;  ///< of parameters and activations
  /// of a shard's gradient sums when they are copied to the host; bf16 only with bf16 `numbers`
  precision gradients = precision::fp32;
};

/// Three named threads. An operation on a copy queue takes at least latency + bytes / link; an operation on the compute
/// queue takes its work time / speed, where what its thread waits for a core does not count: devices of one thread that
/// share a machine's cores do not make each other slower while their sleeps leave room. Emulated time is slept, never
/// spun. Installs the accounting allocator on first use, and must therefore be created before any tensor that is to be
/// charged.
std::unique_ptr<device> make_cpu_device(std::string name, const cpu_device& options);

}  // namespace hydra
