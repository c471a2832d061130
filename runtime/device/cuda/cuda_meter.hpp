#pragma once
// Measures time (by events) and tensor bytes of a closure on a GPU.

#include "runtime/device/device_request.hpp"
#include "runtime/device/work_meter.hpp"

#include <memory>

namespace hydra {

/// Measures on the calling thread's current stream; now() waits for it. For the pilot, never for the units of a run.
/// Bytes come from the thread's pool while it has them, then from LibTorch's own allocator, so a measurement may exceed
/// the device's budget. On a device that measures during a run they come from its pool alone, which has what is free.
std::unique_ptr<work_meter> make_cuda_meter(device_use use);

}  // namespace hydra
