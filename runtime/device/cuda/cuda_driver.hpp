#pragma once
// Streams and events of one GPU.

#include "runtime/device/device_request.hpp"
#include "runtime/device/streams/stream_driver.hpp"

#include <memory>

namespace hydra {

/// Three streams that do not synchronize with the legacy stream. Each has a second stream for its notifications: a host
/// function blocks what follows it on its stream, which must not be a computation or a copy. `use`: as make_cuda_meter.
/// Throws fault_error if the GPU cannot create a stream.
std::unique_ptr<stream_driver> make_cuda_driver(int gpu, device_use use);

}  // namespace hydra
