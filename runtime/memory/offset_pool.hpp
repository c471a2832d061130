#pragma once
// Places for blocks in one contiguous range of memory. Pure arithmetic: offsets, no memory.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace hydra {

/// Best fit: the smallest free range that can hold the block; adjacent free ranges between borders are merged. For one
/// thread.
class offset_pool {
 public:
  static constexpr std::uint64_t unit = 64;  ///< every place starts at a multiple of it, sizes are rounded up to it

  /// `size` and `border`: multiples of `unit`. No place crosses a multiple of `border`.
  explicit offset_pool(std::uint64_t size,
                       std::uint64_t border = std::numeric_limits<std::int64_t>::max() / unit * unit);

  /// A place of `n` bytes that starts at a multiple of `alignment` (itself a multiple of `unit`), or nothing. What is
  /// aligned to more than the unit is placed at the start of its range, the rest at the end, so that small blocks do
  /// not displace large ones.
  std::optional<std::uint64_t> take(std::uint64_t n, std::uint64_t alignment = unit);
  /// Returns a place that was taken with that size; allocates nothing. Throws fault_error{internal} if it is free
  /// already, in part or as a whole.
  void give_back(std::uint64_t offset, std::uint64_t n);

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t free() const noexcept { return free_; }
  std::uint64_t largest() const noexcept { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using offsets = std::map<std::uint64_t, std::uint64_t>;
  using sizes = std::set<std::pair<std::uint64_t, std::uint64_t>>;

  void provide(std::size_t nodes);
  void add(std::uint64_t offset, std::uint64_t n);
  void remove(std::uint64_t offset, std::uint64_t n);

  std::uint64_t size_;
  std::uint64_t border_;
  std::uint64_t free_ = 0;
  std::size_t taken_ = 0;  ///< places
  offsets ranges_;         ///< free: offset -> size
  sizes by_size_;          ///< the same: size, offset
  std::vector<offsets::node_type> spare_ranges_;
  std::vector<sizes::node_type> spare_sizes_;
};

}  // namespace hydra
