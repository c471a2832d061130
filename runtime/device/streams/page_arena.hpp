#pragma once
// The position of each allocation in a device's memory: addresses, and the pages mapped to them.

#include "runtime/base/bytes.hpp"
#include "runtime/device/streams/launch_point.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hydra {

/// Offsets and page numbers only, no memory. Not thread-safe.
///
/// A fixed number of pages is mapped into a range of addresses that is several times as long. An allocation is one run
/// of addresses. It goes where pages are mapped already; where no such run is free, unused pages are remapped to one.
/// So the memory never grows, and fragmentation is limited to parts of pages: on traces of real runs it needs 1.01
/// times the bytes in use, while a range without remapping needs up to 1.3 times (commit 2cb0d80e measures it; there
/// freed bytes are free for all queues at once, as they are here after the queue that freed them was drained).
///
/// Bytes that a closure frees while it launches work may be in use on the device until that work is done; but what the
/// same queue launches next runs after it on the device, too. So freed bytes are free for their own queue at once; when
/// their operation has retired they are free for the other queues, and their pages may be remapped.
class page_arena {
 public:
  /// `spread`: length of the address range as a multiple of the pages' total size.
  page_arena(byte_count page, std::size_t pages, std::size_t spread = 8);

  /// What must be done, in this order, before the bytes are used: unmap these places, then map pages to these places.
  struct taking {
    std::uint64_t offset = 0;
    std::vector<std::size_t> unmapped{};                          ///< places
    std::vector<std::pair<std::size_t, std::size_t>> mapped{};    ///< place, page
  };
  /// `n` bytes, rounded up to 512, for a thread that launches on `queue`. Empty if they are not free at present.
  std::optional<taking> take(byte_count n, queue_kind queue);
  /// `freed_at`: empty if all work that used the bytes is known to be done. Throws fault_error{internal} if they were
  /// not taken.
  void give(std::uint64_t offset, const std::optional<launch_point>& freed_at);
  /// The device has done this operation and all before it on its queue.
  void retire(const launch_point& done);

  byte_count page() const noexcept { return byte_count{page_}; }
  byte_count size() const noexcept { return byte_count{page_ * pages_}; }
  byte_count range() const noexcept { return byte_count{page_ * places_.size()}; }
  byte_count used() const noexcept { return used_; }
  byte_count peak() const noexcept { return peak_; }
  std::size_t segments() const noexcept { return segments_.size(); }
  /// Number of pages that were remapped so far.
  std::uint64_t moves() const noexcept { return moves_; }

 private:
  /// A range of addresses in use, or free for the same queues until the same operation.
  struct segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool used = false;
    std::optional<launch_point> freed_at{};   ///< of a free segment; empty: free for all queues
    bool free_for(queue_kind queue) const noexcept { return !used && (!freed_at || freed_at->queue == queue); }
    bool free_for_all() const noexcept { return !used && !freed_at; }
  };
  /// A range of addresses as long as a page.
  struct place {
    std::optional<std::size_t> page{};
    std::uint32_t users = 0;                  ///< segments in it that are not free for all queues
  };
  struct run {
    std::size_t first = 0, past = 0;          ///< segments
    std::uint64_t begin = 0, end = 0;
  };
  struct window {
    run in;
    std::uint64_t begin = 0;
    std::size_t missing = 0;                  ///< pages
  };

  run run_from(std::size_t first, queue_kind queue) const;
  std::size_t missing(std::uint64_t begin, std::uint64_t n) const;
  std::optional<window> find(std::uint64_t n, queue_kind queue) const;
  std::vector<std::size_t> idle_places(std::size_t n, std::uint64_t begin, std::uint64_t end) const;
  bool supply(taking& t, const window& w, std::uint64_t n);
  void carve(const run& where, std::uint64_t begin, std::uint64_t end);
  void count_user(const segment& s, int change);
  /// Whether both are free for the same queues until the same operation.
  static bool are_one(const segment& a, const segment& b) noexcept;
  void merge_with_next(std::size_t index);
  void merge_all();
  std::size_t first_place(std::uint64_t begin) const noexcept { return begin / page_; }
  std::size_t past_place(std::uint64_t end) const noexcept { return (end + page_ - 1) / page_; }

  std::uint64_t page_;
  std::size_t pages_;
  std::vector<place> places_;
  std::vector<std::size_t> spare_;            ///< pages that are mapped nowhere
  std::vector<segment> segments_;             ///< sorted, without gaps
  byte_count used_;
  byte_count peak_;
  std::uint64_t moves_ = 0;
};

}  // namespace hydra
