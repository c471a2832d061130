#pragma once
// One mapping for all host memory of the pinned pool.

#include "runtime/base/bytes.hpp"
#include "runtime/memory/mapped_pages.hpp"
#include "runtime/memory/offset_pool.hpp"

#include <cstddef>
#include <mutex>
#include <span>

namespace hydra {

/// Thread-safe. Shared by its blocks, which may outlive the arena.
class transfer_slab {
 public:
  /// Maps exactly `pool` bytes (whole pages) and touches them on several threads. No place crosses a multiple of
  /// `piece` (whole pages): what is locked piece by piece may not be copied at once across two. Throws std::bad_alloc.
  transfer_slab(byte_count pool, byte_count piece);
  ~transfer_slab();
  transfer_slab(const transfer_slab&) = delete;
  transfer_slab& operator=(const transfer_slab&) = delete;

  std::span<std::byte> pages() const noexcept { return {memory_.get(), memory_.get_deleter().size}; }

  /// `n` bytes at a multiple of `alignment`, with their old content; null if there is no such place.
  std::byte* take(std::uint64_t n, std::uint64_t alignment);
  /// Returns what was taken.
  void give_back(std::byte* place, std::uint64_t n) noexcept;

  /// Leaves the pages mapped forever: a device may still copy.
  void keep_mapped() noexcept { kept_ = true; }

 private:
  mapped_pages memory_;
  bool kept_ = false;
  std::mutex mutex_;
  offset_pool places_;
};

}  // namespace hydra
