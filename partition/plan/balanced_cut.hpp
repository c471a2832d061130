#pragma once
// The balanced cut: dynamic programming over the ends of a chain.

#include "partition/plan/piece_table.hpp"

#include <compare>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace hydra {

/// What a cut costs; fewer shards first, then the smaller largest visit.
struct cut_cost {
  std::size_t shards = 0;
  duration largest{};
  friend auto operator<=>(const cut_cost&, const cut_cost&) = default;
};

/// The best cut of every end of a chain within limits. An end [i, L) with the fewest shards starts with some piece
/// [i, j) and goes on with the best cut of [j, L), for the number of shards decides before their times do: one pass
/// over all pieces, layers^2 / 2 of them at most. Demands need not grow with a piece (a pooling layer makes its shard's
/// output smaller), so no piece may be skipped.
class balanced_cuts {
 public:
  balanced_cuts(const piece_table& pieces, const cut_limits& limits);

  /// Of the whole chain; nothing if no cut fits.
  std::optional<cut_cost> cost() const;
  /// Of all cuts of that cost the lexicographically smallest. Only if there is a cost.
  cut_points cuts() const;

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  cut_cost with(const piece& p) const;
  std::size_t next(std::size_t first, std::size_t shards) const;

  const piece_table& pieces_;
  cut_limits limits_;
  std::vector<cut_cost> best_;  ///< of the end that starts with layer i; `none` shards: it does not fit
};

/// The least P + C that a cut needs whose shards all have W <= staging; nothing if there is none.
std::optional<byte_count> least_computing(const piece_table& pieces, byte_count staging);

}  // namespace hydra
