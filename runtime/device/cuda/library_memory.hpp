#pragma once
// LibTorch's own allocator as the memory of a device: for measurements during a run, and for comparison with the arena.

#include "runtime/device/cpu/tensor_pool.hpp"
#include "runtime/device/streams/launch_memory.hpp"

#include <memory>

namespace hydra {

/// Takes memory from the GPU when it is used, and returns it at the latest when destroyed. Charges are counted and the
/// budget is enforced, but the GPU may have less left than that. `beside`: as arena_memory.
std::shared_ptr<launch_memory> make_library_memory(byte_count budget, byte_count beside);

/// The same with segments that grow and shrink (expandable_segments), and a pool for each stream. Bytes move between
/// its pools only through the driver, and an allocation does not wait for memory that others will free: a tight budget
/// that suffices for the arena may be too small here.
std::shared_ptr<launch_memory> make_expandable_memory(byte_count budget, byte_count beside);

}  // namespace hydra
