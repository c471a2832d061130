#pragma once
// What a closure takes of a GPU: by events, and by the bytes of its tensors.

#include "runtime/device/device_request.hpp"
#include "runtime/device/work_meter.hpp"

#include <memory>

namespace hydra {

/// On the calling thread's current stream, for which now() waits: for the pilot, never in a run. Bytes come from the thread's
/// pool while it has them, then from LibTorch's own allocator, so a measurement may be larger than the device's budget; on a
/// device that measures beside a run they come from its pool alone, which has what is free.
std::unique_ptr<work_meter> make_cuda_meter(device_use use);

}  // namespace hydra
