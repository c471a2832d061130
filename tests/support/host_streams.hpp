#pragma once
// A driver without a device: streams are threads of the host. Replaces a GPU's driver in tests of stream_device.

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/streams/stream_driver.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace hydra::test {

/// By how much the driver delays what is launched, and when it breaks.
struct host_stream_options {
  std::function<void(queue_kind)> before_work{};   ///< called on the stream's thread before each of its jobs; may wait
  int records = -1;                                ///< after so many events the driver is broken for good; -1: never
  std::shared_ptr<std::atomic<bool>> fails{};      ///< once true, there are no more notifications, and look() says why
};

std::unique_ptr<stream_driver> make_host_streams(host_stream_options options = {});

/// In a closure of a device on host streams: `kernel` runs later, on the stream of the closure's queue.
void launch_kernel(std::function<void()> kernel);

/// Charges CPU tensors of closures to an account with this limit.
std::shared_ptr<launch_memory> make_charged_memory(byte_count limit);

}  // namespace hydra::test
