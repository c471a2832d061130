#pragma once
// Places for blocks in one stretch of memory. Pure arithmetic: offsets, no memory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace hydra {

/// Best fit: the smallest free range in which a block has room; neighbours that are free are one range. For one thread.
class offset_pool {
 public:
  static constexpr std::uint64_t unit = 64;  ///< every place begins at a multiple of it, sizes are rounded up to it

  /// `size`: a multiple of `unit`.
  explicit offset_pool(std::uint64_t size);

  /// A place of `n` bytes that begins at a multiple of `alignment` (one of `unit`), or nothing. What is aligned to more
  /// than the unit lies at the begin of its range, the rest at the end, so that small blocks do not move large ones.
  std::optional<std::uint64_t> take(std::uint64_t n, std::uint64_t alignment = unit);
  /// What was taken with that size; allocates nothing. Throws fault_error{internal} if it is free already, in part or
  /// as a whole.
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
  std::uint64_t free_ = 0;
  std::size_t taken_ = 0;  ///< places
  offsets ranges_;         ///< free: offset -> size
  sizes by_size_;          ///< the same: size, offset
  std::vector<offsets::node_type> spare_ranges_;
  std::vector<sizes::node_type> spare_sizes_;
};

}  // namespace hydra
