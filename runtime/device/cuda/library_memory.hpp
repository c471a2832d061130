#pragma once
// LibTorch's own allocator as the memory of a device: to measure beside a run, and to compare the arena with.

#include "runtime/device/streams/launch_memory.hpp"
#include "runtime/device/cpu/tensor_pool.hpp"

#include <memory>

namespace hydra {

/// Takes what is used from the GPU when it is used, and gives it back at its end at the latest. Charges are counted and the
/// budget is enforced, but the GPU may have less to give than that. `beside`: as arena_memory.
std::shared_ptr<launch_memory> make_library_memory(byte_count budget, byte_count beside);

/// The same with segments that grow and shrink (expandable_segments), a pool for each stream. Between its pools bytes only
/// move by way of the driver, and nobody waits for what others will free: a tight budget that the arena keeps may be too
/// small here.
std::shared_ptr<launch_memory> make_expandable_memory(byte_count budget, byte_count beside);

}  // namespace hydra
