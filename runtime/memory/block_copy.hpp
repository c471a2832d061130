#pragma once
// Copies between home and device: closures for the copy queues.

#include "runtime/device/device_block_ptr.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// Creates the device tensor (raw bytes) and fills it from the first `n` bytes of `home`. `home` may be null in a
/// simulation, where closures are never run.
std::function<void()> copy_in(host_block_ptr home, byte_count n, device_block_ptr to, std::string torch_device);

/// Fills the device tensor, which exists already, with as many bytes of `home`.
std::function<void()> copy_over(host_block_ptr home, device_block_ptr to);

/// Copies the tensor's bytes to `home`, then releases the device block.
std::function<void()> copy_out(device_block_ptr from, host_block_ptr home);

/// The same into a scratch buffer that is never read and that grows as needed; calls that share it run one after the
/// other. For measurements: the time of a copy whose bytes are at home already.
std::function<void()> copy_for_nothing(device_block_ptr from, std::shared_ptr<std::vector<std::byte>> into);

}  // namespace hydra
