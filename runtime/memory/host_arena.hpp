#pragma once
// Host memory: aligned, staggered, in huge pages where possible, accounted against the host cap; buffers of device
// copies can be locked (the pinned pool).

#include "runtime/base/bytes.hpp"
#include "runtime/device/page_locker.hpp"
#include "runtime/memory/byte_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// An owned buffer on the host. Shared by handle between the memory manager, copies in flight and optimizer jobs; freed
/// and un-accounted with the last handle. In a simulation `data()` is null and only `size()` counts.
class host_block {
 public:
  virtual ~host_block() = default;
  virtual std::byte* data() noexcept = 0;
  virtual const std::byte* data() const noexcept = 0;
  virtual byte_count size() const noexcept = 0;

  /// The bytes as fp32; size()/4 elements.
  std::span<float> floats() noexcept;
  std::span<const float> floats() const noexcept;
  /// The bytes as bits of bf16; size()/2 elements.
  std::span<std::uint16_t> halves() noexcept;
};

using host_block_ptr = std::shared_ptr<host_block>;

/// The purpose of a host block.
enum class host_use : std::uint8_t {
  kept,  ///< only the host reads and writes it (moments, masters)
  /// Devices copy from or to it (parameters, written-back gradients and boundaries, minibatches, targets, losses;
  /// optimizer state of shards that devices step).
  transferred
};

/// Allocates host blocks. Thread-safe.
class host_arena {
 public:
  virtual ~host_arena() = default;
  /// Base aligned to 64 and staggered by k*(4096+1024) (libtorch address trap: bases at equal distance modulo large
  /// powers of two make Adam 2-3.5x slower). Kept bytes are zero; transferred ones may hold what an earlier block held.
  /// Accounted at the rounded size, unless it is in the pinned pool, which is accounted as a whole; throws
  /// fault_error{out_of_memory} naming `what` if the cap would be exceeded. Always reserves before it allocates.
  virtual host_block_ptr allocate(byte_count n, const std::string& what, host_use use = host_use::kept) = 0;
  virtual const byte_budget& budget() const noexcept = 0;
  /// The charge of an allocation of `n` bytes (rounding and stagger included).
  virtual byte_count charged(byte_count n) const noexcept = 0;

  /// Bytes of the budget that the pinned pool takes for as long as it is mapped.
  virtual byte_count pinned() const noexcept { return {}; }
  /// Number of transferred blocks so far that did not fit into the pinned pool: their copies are not direct.
  virtual std::uint64_t unlocked_blocks() const noexcept { return 0; }
  /// To be called before the devices whose lockers have locked the pinned pool are destroyed. `hanging`: one of them
  /// never ends and may still copy; then the pages stay locked and mapped forever.
  virtual void end_locks(bool /*hanging*/) noexcept {}
};

/// The locked memory for the transfers of a run.
struct pinned_pool_sizes {
  /// Each locks the whole pool. They outlive the arena, or its end_locks(). Empty: there is no pinned pool.
  std::vector<page_locker*> lockers{};
  /// sum of the charges of all transferred blocks that exist at the same time
  byte_count size{};
  byte_count piece{std::uint64_t{64} << 30};  ///< locked at a time, no block crosses two; whole pages
};

/// The charge of a block of `n` bytes on the host (rounding and stagger included): the plan adds these up.
byte_count host_charge(byte_count n) noexcept;

/// The real arena: blocks of 2 MiB and more are mapped with huge pages advised, smaller ones come from the heap. If
/// there is a pinned pool, exactly its size is claimed, mapped, touched and locked here (in whole pages, but claimed to
/// the byte); transferred blocks are places in it. A transferred block for which no free range is long enough is
/// allocated and claimed like any other, within what the pool leaves of the cap. Blocks may outlive the arena. Throws
/// fault_error{does_not_fit} for a pool beyond the cap, {out_of_memory} if the system refuses the memory, and what a
/// locker throws.
std::unique_ptr<host_arena> make_host_arena(byte_count cap, const pinned_pool_sizes& pool = {});

/// Accounts but allocates nothing: for simulations. Charges as the real arena does.
std::unique_ptr<host_arena> make_accounting_arena(byte_count cap);

}  // namespace hydra
