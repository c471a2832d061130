#pragma once
// The balanced cut: dynamic programming over the suffixes of a chain.

#include "partition/plan/piece_table.hpp"

#include <compare>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace hydra {

/// The cost of a cut: compared by the number of shards, then by the time of the longest visit.
struct cut_cost {
  std::size_t shards = 0;
  duration largest{};
  friend auto operator<=>(const cut_cost&, const cut_cost&) = default;
};

/// The best cut (balanced_cut) of every suffix of a chain within limits. The best cut of [i, L) starts with some piece
/// [i, j) and continues with the best cut of [j, L), because the number of shards is compared before their times: one
/// pass over all pieces, at most layers^2 / 2; one for each length of the longest visit that is tried. A longer piece
/// does not always need more memory (a pooling layer makes its shard's output smaller), so no piece may be skipped.
class balanced_cuts {
 public:
  balanced_cuts(const piece_table& pieces, const cut_limits& limits, const balanced_cut& rule = {});

  /// Of the whole chain, at least the shards of the rule: with wider limits it is never higher. None if no cut fits.
  std::optional<cut_cost> cost() const;
  /// The lexicographically smallest cut of that cost, then divided. Only if there is a cost.
  cut_points cuts() const;

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  void fill(duration longest_visit);
  void shorten_visits();
  cut_cost with(const chain_piece& p) const;
  std::size_t next(std::size_t first, std::size_t shards) const;
  bool divide_longest(cut_points& cuts) const;
  std::optional<std::size_t> middle_of(std::size_t first, std::size_t last) const;
  const chain_piece* piece(std::size_t first, std::size_t last) const;

  const piece_table& pieces_;
  cut_limits limits_;
  std::size_t shards_;          ///< of the rule
  duration longest_visit_{};    ///< of the pieces that may be taken
  std::vector<cut_cost> best_;  ///< of the suffix that starts with layer i; `none` shards: it does not fit
};

/// The least P + C of all cuts whose shards have W <= staging; none if there is no such cut.
std::optional<byte_count> least_computing(const piece_table& pieces, byte_count staging);

}  // namespace hydra
