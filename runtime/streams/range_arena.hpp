#pragma once
// Where in one fixed range of bytes each allocation lies.

#include "runtime/bytes.hpp"
#include "runtime/device.hpp"
#include "runtime/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// A place in the order of work that is launched: this operation of this queue.
struct launch_point {
  queue_kind queue = queue_kind::compute;
  ticket operation;
  friend bool operator==(const launch_point&, const launch_point&) = default;
};

/// Offsets, no memory: a first fit over sorted segments. What a closure frees while it only launches work may be in use on
/// the device until that work is done; but what the same queue launches next comes after it on the device, too. So a freed
/// segment is free for its queue at once, and for the others when its operation has retired. No growth, and no fragmentation
/// between queues: all take from the one range, computations from its low end, copies from its high end, so that what lives
/// for a visit and what lives for a kernel do not mix. Not thread-safe.
class range_arena {
 public:
  explicit range_arena(byte_count size);

  /// Offset of `n` bytes for a thread that launches on `queue`. Nothing if there is no such free run, now.
  std::optional<std::uint64_t> take(byte_count n, queue_kind queue);
  /// `freed_at`: nothing if all that used the bytes is known to be done.
  void give(std::uint64_t offset, const std::optional<launch_point>& freed_at);
  /// The operation, and all before it on its queue, are done on the device.
  void retire(const launch_point& done);

  byte_count size() const noexcept { return size_; }
  byte_count used() const noexcept { return used_; }
  byte_count peak() const noexcept { return peak_; }
  /// Largest run that `queue` could take now.
  byte_count largest(queue_kind queue) const;
  /// True if some free bytes wait for an operation to retire.
  bool waits() const noexcept;
  std::size_t segments() const noexcept { return segments_.size(); }

 private:
  struct segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool used = false;
    std::optional<launch_point> freed_at{};   ///< of a free one; nothing: free for all
    bool free_for(queue_kind queue) const noexcept { return !used && (!freed_at || freed_at->queue == queue); }
    std::uint64_t size() const noexcept { return end - begin; }
  };
  struct run {
    std::size_t first = 0, past = 0;   ///< segments
    std::uint64_t begin = 0, end = 0;
  };

  std::optional<run> find(std::uint64_t n, queue_kind queue) const;
  run run_from(std::size_t first, queue_kind queue) const;
  void carve(const run& where, std::uint64_t begin, std::uint64_t end);
  void merge_around(std::size_t index);
  void merge_all();

  byte_count size_;
  byte_count used_;
  byte_count peak_;
  std::vector<segment> segments_;   ///< sorted, without gaps
};

}  // namespace hydra
