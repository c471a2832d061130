#pragma once
// A device whose queues are streams of a driver: tickets are events, closures launch work ahead of the device.

#include "runtime/device/device.hpp"
#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/streams/stream_driver.hpp"

#include <memory>

namespace hydra {

/// Each queue has a thread that takes its operations in order. When everything that an operation waits for has been
/// launched, the thread makes the stream wait for the events of those operations and runs the closure, which launches
/// work. So computations follow each other on the device without a gap, and a full launch queue of computations never
/// delays a copy. When the device has done the work, the driver posts a notification; one more thread then destroys the
/// closure, releases its bytes and reports the completion: a cause before its effects, also across queues. No thread of
/// the driver ever runs code of a closure.
std::unique_ptr<device> make_stream_device(device_info info, std::unique_ptr<stream_driver> driver,
                                           std::shared_ptr<launch_memory> memory);

}  // namespace hydra
