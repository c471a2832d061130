#include "partition/plan/balanced_cut.hpp"

#include <algorithm>

namespace hydra {

balanced_cuts::balanced_cuts(const piece_table& pieces, const cut_limits& limits)
    : pieces_(pieces), limits_(limits), best_(pieces.layers() + 1, {none, {}}) {
  best_.back() = {};
  for (auto first = pieces.layers(); first-- > 0;) {
    for (const auto& p : pieces.from(first)) {
      best_[first] = std::min(best_[first], with(p));
    }
  }
}

/// Cost of the rest of the chain that starts with this piece.
cut_cost balanced_cuts::with(const chain_piece& p) const {
  const auto& rest = best_[p.last];
  if (rest.shards == none || !fits(p.demand, limits_)) {
    return {none, {}};
  }
  return {rest.shards + 1, std::max(rest.largest, p.visit)};
}

std::optional<cut_cost> balanced_cuts::cost() const {
  return best_.front().shards == none ? std::nullopt : std::optional(best_.front());
}

/// The smallest end of a shard that starts with `first` such that the rest can be cut into `shards` - 1 others, none of
/// which takes longer than the longest of the whole cut.
std::size_t balanced_cuts::next(std::size_t first, std::size_t shards) const {
  const cut_cost most{shards, best_.front().largest};
  const auto& row = pieces_.from(first);
  return std::ranges::find_if(row, [&](const chain_piece& p) { return with(p) <= most; })->last;
}

cut_points balanced_cuts::cuts() const {
  cut_points cuts;
  std::size_t first = 0;
  for (auto shards = best_.front().shards; shards > 0; --shards) {
    cuts.push_back(first);
    first = next(first, shards);
  }
  return cuts;
}

std::optional<byte_count> least_computing(const piece_table& pieces, byte_count staging) {
  std::vector<std::optional<byte_count>> best(pieces.layers() + 1);
  best.back() = byte_count{};
  for (auto first = pieces.layers(); first-- > 0;) {
    for (const auto& p : pieces.from(first)) {
      if (p.demand.staging <= staging && best[p.last]) {
        const auto with = std::max(p.demand.computing, *best[p.last]);
        best[first] = best[first] ? std::min(*best[first], with) : with;
      }
    }
  }
  return best.front();
}

}  // namespace hydra
