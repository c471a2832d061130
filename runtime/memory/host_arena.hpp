#pragma once
// Host memory: aligned, staggered, huge pages where possible, accounted against the host cap; what devices copy from and
// to is locked where they want it so.

#include "runtime/memory/byte_budget.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/page_locker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Bytes on the host, owned. Shared by handle between the memory manager, copies in flight and optimizer jobs; freed
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

/// What a host block is for.
enum class host_use : std::uint8_t {
  kept,        ///< only the host reads and writes it (moments, masters)
  transferred  ///< devices copy from or to it (parameters, landed gradients and boundaries, minibatches, targets, losses;
               ///< optimizer state of shards that devices step)
};

/// Where host blocks come from. Thread-safe.
class host_arena {
 public:
  virtual ~host_arena() = default;
  /// Base aligned to 64 and staggered by k*(4096+1024) (libtorch address trap: bases at equal distance modulo large
  /// powers of two make Adam 2-3.5x slower). Kept bytes are zero; transferred ones may hold what an earlier block held.
  /// Accounted at the rounded size, unless it lies in the transfer room, which is accounted as a whole; throws
  /// fault_error{out_of_memory} naming `what` if the cap would be passed. Never allocates before it has reserved.
  virtual host_block_ptr allocate(byte_count n, const std::string& what, host_use use = host_use::kept) = 0;
  virtual const byte_budget& budget() const noexcept = 0;
  /// What an allocation of `n` bytes is charged (rounding and stagger included).
  virtual byte_count charged(byte_count n) const noexcept = 0;

  /// What the transfer room takes of the budget for as long as it is mapped.
  virtual byte_count room() const noexcept { return {}; }
  /// Transferred blocks so far that found no place in the transfer room: their copies take a detour.
  virtual std::uint64_t unlocked_blocks() const noexcept { return 0; }
  /// Before the devices go whose lockers have locked the transfer room. `hanging`: one of them never ends and may still
  /// copy; then the pages stay locked and mapped for ever.
  virtual void end_locks(bool /*hanging*/) noexcept {}
};

/// What is locked for the transfers of a run.
struct pinned_pool_sizes {
  /// Each locks all of it. They outlive the arena, or its end_locks(). None: there is no such room.
  std::vector<page_locker*> lockers{};
  byte_count size{};                          ///< charges of all transferred blocks that live at the same time
  byte_count piece{std::uint64_t{64} << 30};  ///< locked at a time; whole pages
};

/// What a block of `n` bytes is charged on the host (rounding and stagger included): the plan adds these up.
byte_count host_charge(byte_count n) noexcept;

/// The real arena: blocks of 2 MiB and more are mapped with huge pages advised, smaller ones come from the heap. If there
/// is a transfer room, exactly so much is claimed, mapped, touched and locked here (in whole pages, but claimed to the
/// byte); transferred blocks are places in it. One for which no free range is long enough is made and claimed as any
/// other, within what the room leaves of the cap. Blocks may outlive the arena. Throws
/// fault_error{does_not_fit} for a room beyond the cap, {out_of_memory} if the system has no such memory, and what a
/// locker throws.
std::unique_ptr<host_arena> make_host_arena(byte_count cap, const pinned_pool_sizes& room = {});

/// Accounts but allocates nothing: for simulations. Same charges as the real arena.
std::unique_ptr<host_arena> make_accounting_arena(byte_count cap);

}  // namespace hydra
