#pragma once
// A device whose queues are streams of a driver: tickets are events, closures launch work ahead of it.

#include "runtime/device/device.hpp"
#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/streams/stream_driver.hpp"

#include <memory>

namespace hydra {

/// A thread for each queue takes its operations in order. When all that an operation waits for is launched, its stream is
/// told to wait for their events and the closure is run: it launches. So computations follow each other on the device
/// without a gap, and a full launch queue of computations never holds up a copy. When the device has done the work, the
/// driver posts; one more thread then destroys the closure, gives its bytes free and reports the completion: cause before
/// effect, also across queues, and no thread of the driver ever runs code of a closure.
std::unique_ptr<device> make_stream_device(device_info info, std::unique_ptr<stream_driver> driver,
                                           std::shared_ptr<launch_memory> memory);

}  // namespace hydra
