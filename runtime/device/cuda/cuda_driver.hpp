#pragma once
// Streams and events of one GPU.

#include "runtime/device/device_request.hpp"
#include "runtime/device/streams/stream_driver.hpp"

#include <memory>

namespace hydra {

/// Three streams that do not wait for the legacy stream, each with a second one for its notices: a host function holds up
/// what is behind it on its stream, which no computation and no copy may be. `use`: as make_cuda_meter. Throws fault_error if
/// the GPU gives no stream.
std::unique_ptr<stream_driver> make_cuda_driver(int gpu, device_use use);

}  // namespace hydra
