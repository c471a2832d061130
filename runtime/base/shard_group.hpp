#pragma once
// Shards that are visited side by side: pieces of a layer. Standard library only.

#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace hydra {

/// What the shard behind them makes of what they leave, in their order.
enum class term_join : std::uint8_t {
  sum,             ///< it adds the terms
  sum_with_input,  ///< to the input of the shard before them
  columns          ///< each has some columns (last dimension)
};

/// All read the output of the shard before them, or the minibatch; each leaves a term of what the shard behind them
/// reads.
struct shard_group {
  std::uint32_t first = 0;
  std::uint32_t count = 2;
  term_join join = term_join::sum;

  bool adds_to_input() const noexcept { return join == term_join::sum_with_input; }
  std::uint32_t past() const noexcept { return first + count; }
  /// The replicas of a step may meet before that shard: not behind what these shards, or the one that adds them, read.
  bool allows_meeting_at(std::uint32_t shard) const noexcept { return shard < first + (adds_to_input() ? 0 : 1); }
  bool has(shard_index s) const noexcept { return s.value >= first && s.value < past(); }
  friend bool operator==(const shard_group&, const shard_group&) = default;
};

/// Null: it is in none of them.
inline const shard_group* group_of(shard_index s, std::span<const shard_group> groups) noexcept {
  const auto found = std::ranges::find_if(groups, [s](const shard_group& g) { return g.has(s); });
  return found == groups.end() ? nullptr : &*found;
}

/// Of the largest one; 1 if there is none.
inline std::uint32_t most_side_by_side(std::span<const shard_group> groups) noexcept {
  std::uint32_t most = 1;
  for (const auto& g : groups) {
    most = std::max(most, g.count);
  }
  return most;
}

}  // namespace hydra
