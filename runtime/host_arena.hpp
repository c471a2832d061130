#pragma once
// Host memory: aligned, staggered, huge pages where possible, accounted against the host cap.

#include "runtime/byte_budget.hpp"
#include "runtime/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

/// Where host blocks come from. Thread-safe.
class host_arena {
 public:
  virtual ~host_arena() = default;
  /// Zeroed bytes, base aligned to 64 and staggered by k*(4096+1024) (libtorch address trap: bases at equal
  /// distance modulo large powers of two make Adam 2-3.5x slower). Accounted at the rounded size; throws
  /// fault_error{out_of_memory} naming `what` if the cap would be passed. Never allocates before it has reserved.
  virtual host_block_ptr allocate(byte_count n, const std::string& what) = 0;
  virtual const byte_budget& budget() const noexcept = 0;
  /// What an allocation of `n` bytes is charged (rounding and stagger included).
  virtual byte_count charged(byte_count n) const noexcept = 0;
};

/// What a block of `n` bytes is charged on the host (rounding and stagger included): the plan adds these up.
byte_count host_charge(byte_count n) noexcept;

/// The real arena: blocks of 2 MiB and more are mapped with huge pages advised, smaller ones come from the heap.
std::unique_ptr<host_arena> make_host_arena(byte_count cap);

/// Accounts but allocates nothing: for simulations. Same charges as the real arena.
std::unique_ptr<host_arena> make_accounting_arena(byte_count cap);

}  // namespace hydra
