#pragma once
// The virtual device: host threads stand in for a device's queues, its memory budget is enforced, its link emulated.

#include "runtime/device/device.hpp"

#include <memory>

namespace hydra {

/// What a user chooses of a virtual device.
struct cpu_device {
  byte_count memory{};     ///< required: budget enforced by the accounting allocator
  byte_rate link{};        ///< rate each way; not emulated if zero
  duration latency{};      ///< per copy
  int threads = 1;         ///< intra-op threads of its compute queue
  double speed = 1.0;      ///< in (0, 1]: the rest is slept after the work
  precision numbers = precision::fp32;  ///< of parameters and activations
  precision gradients = precision::fp32;  ///< of a shard's sums, as they are demoted; bf16 only with such numbers
};

/// Three named threads. An operation on a copy queue takes at least latency + bytes / link; one on the compute queue
/// takes its work time / speed. Emulated time is slept, never spun. Installs the accounting allocator on first use;
/// must therefore be created before tensors that the run charges.
std::unique_ptr<device> make_cpu_device(std::string name, const cpu_device& options);

}  // namespace hydra
