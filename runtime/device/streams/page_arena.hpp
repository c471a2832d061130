#pragma once
// Where in a device's memory each allocation lies: addresses, and the pages behind them.

#include "runtime/base/bytes.hpp"
#include "runtime/device/streams/launch_point.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hydra {

/// Offsets and page numbers, no memory. Not thread-safe.
///
/// A fixed number of pages lies behind a range of addresses that is several times as long. An allocation is one run of
/// addresses. It goes where pages are already; where no such run is free, pages that nobody uses are moved behind one. So the
/// memory never grows and cannot be fragmented by more than parts of pages: on traces of real runs it needs 1.01 times the
/// bytes in use, a range without pages up to 1.2 times (hydra bench fragmentation; there what is freed is free for all at
/// once, as it is here after the queue that freed it was drained).
///
/// What a closure frees while it only launches work may be in use on the device until that work is done; but what the same
/// queue launches next comes after it on the device, too. So freed bytes are free for their queue at once, and for the
/// others, and for their pages to be moved, when their operation has retired.
class page_arena {
 public:
  /// `spread`: length of the range in times of the pages'.
  page_arena(byte_count page, std::size_t pages, std::size_t spread = 8);

  /// What has to be done, in this order, before the bytes are used: places lose their pages, places get pages.
  struct taking {
    std::uint64_t offset = 0;
    std::vector<std::size_t> unmapped{};                          ///< places
    std::vector<std::pair<std::size_t, std::size_t>> mapped{};    ///< place, page
  };
  /// `n` bytes, rounded up to 512, for a thread that launches on `queue`. Nothing if there are none, now.
  std::optional<taking> take(byte_count n, queue_kind queue);
  /// `freed_at`: nothing if all that used the bytes is known to be done. Throws fault_error{internal} if they were not taken.
  void give(std::uint64_t offset, const std::optional<launch_point>& freed_at);
  /// The operation, and all before it on its queue, are done on the device.
  void retire(const launch_point& done);

  byte_count page() const noexcept { return byte_count{page_}; }
  byte_count size() const noexcept { return byte_count{page_ * pages_}; }
  byte_count range() const noexcept { return byte_count{page_ * places_.size()}; }
  byte_count used() const noexcept { return used_; }
  byte_count peak() const noexcept { return peak_; }
  std::size_t segments() const noexcept { return segments_.size(); }
  /// Pages that were moved from one place to another so far.
  std::uint64_t moves() const noexcept { return moves_; }

 private:
  /// Addresses that are used, or free for the same and until the same.
  struct segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool used = false;
    std::optional<launch_point> freed_at{};   ///< of a free one; nothing: free for all
    bool free_for(queue_kind queue) const noexcept { return !used && (!freed_at || freed_at->queue == queue); }
    bool free_for_all() const noexcept { return !used && !freed_at; }
  };
  /// A page's length of addresses.
  struct place {
    std::optional<std::size_t> page{};
    std::uint32_t users = 0;                  ///< segments in it that are not free for all
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
  /// Free for the same and until the same.
  static bool are_one(const segment& a, const segment& b) noexcept;
  void merge_with_next(std::size_t index);
  void merge_all();
  std::size_t first_place(std::uint64_t begin) const noexcept { return begin / page_; }
  std::size_t past_place(std::uint64_t end) const noexcept { return (end + page_ - 1) / page_; }

  std::uint64_t page_;
  std::size_t pages_;
  std::vector<place> places_;
  std::vector<std::size_t> spare_;            ///< pages that are behind no place
  std::vector<segment> segments_;             ///< sorted, without gaps
  byte_count used_;
  byte_count peak_;
  std::uint64_t moves_ = 0;
};

}  // namespace hydra
