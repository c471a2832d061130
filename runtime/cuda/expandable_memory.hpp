#pragma once
// LibTorch's own allocator as the memory of a device: to compare the arena with.

#include "runtime/streams/launch_memory.hpp"
#include "runtime/tensor_pool.hpp"

#include <memory>

namespace hydra {

/// Segments that grow and shrink (expandable_segments), a pool for each stream. Charges are counted and the budget is
/// enforced, but between its pools bytes only move by way of the driver, and nobody waits for what others will free: a tight
/// budget that the arena keeps may be too small here. `beside`: as arena_memory.
std::shared_ptr<launch_memory> make_expandable_memory(byte_count budget, byte_count beside);

}  // namespace hydra
