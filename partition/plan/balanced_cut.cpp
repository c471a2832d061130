#include "partition/plan/balanced_cut.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

balanced_cuts::balanced_cuts(const piece_table& pieces, const cut_limits& limits, const balanced_cut& rule)
    : pieces_(pieces), limits_(limits), shards_(rule.shards) {
  fill(duration::max());
  if (best_.front().shards < shards_) {
    shorten_visits();
  }
}

void balanced_cuts::fill(duration longest_visit) {
  longest_visit_ = longest_visit;
  best_.assign(pieces_.layers() + 1, {none, {}});
  best_.back() = {};
  for (auto first = pieces_.layers(); first-- > 0;) {
    for (const auto& p : pieces_.from(first)) {
      best_[first] = std::min(best_[first], with(p));
    }
  }
}

/// The shorter visits must be, the more shards are needed.
void balanced_cuts::shorten_visits() {
  std::vector<duration> visits;
  for (std::size_t first = 0; first < pieces_.layers(); ++first) {
    std::ranges::transform(pieces_.from(first), std::back_inserter(visits), &chain_piece::visit);
  }
  std::ranges::sort(visits);
  const auto shortest = std::ranges::partition_point(visits, [this](duration longest) {
    fill(longest);
    return best_.front().shards > shards_;
  });
  fill(*shortest);
}

/// Cost of the rest of the chain that starts with this piece.
cut_cost balanced_cuts::with(const chain_piece& p) const {
  const auto& rest = best_[p.last];
  if (rest.shards == none || p.visit > longest_visit_ || !fits(p.demand, limits_)) {
    return {none, {}};
  }
  return {rest.shards + 1, std::max(rest.largest, p.visit)};
}

std::optional<cut_cost> balanced_cuts::cost() const {
  const auto& whole = best_.front();
  return whole.shards == none ? std::nullopt : std::optional(cut_cost{std::max(whole.shards, shards_), whole.largest});
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
  while (cuts.size() < shards_ && divide_longest(cuts)) {
  }
  return cuts;
}

/// False if none can be divided.
bool balanced_cuts::divide_longest(cut_points& cuts) const {
  duration longest{};
  std::optional<std::size_t> middle;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto last = last_layer(cuts, i, pieces_.layers());
    const auto visit = piece(cuts[i], last)->visit;
    const auto at = visit > longest || !middle ? middle_of(cuts[i], last) : std::nullopt;
    if (at) {
      longest = visit;
      middle = at;
    }
  }
  if (middle) {
    cuts.insert(std::ranges::upper_bound(cuts, *middle), *middle);
  }
  return middle.has_value();
}

/// Where the longer part is shortest, of those places where both fit and take no longer than the longest shard: the end
/// of a chain can, because its forward is part of its backward.
std::optional<std::size_t> balanced_cuts::middle_of(std::size_t first, std::size_t last) const {
  std::optional<std::pair<duration, std::size_t>> best;
  for (auto at = first + 1; at < last; ++at) {
    const auto* before = piece(first, at);
    const auto* after = piece(at, last);
    if (before && after && fits(before->demand, limits_) && fits(after->demand, limits_)) {
      const std::pair with{std::max(before->visit, after->visit), at};
      best = std::min(best.value_or(with), with);
    }
  }
  return best && best->first <= best_.front().largest ? std::optional(best->second) : std::nullopt;
}

/// Null: it is in no cut.
const chain_piece* balanced_cuts::piece(std::size_t first, std::size_t last) const {
  const auto row = pieces_.from(first);
  const auto found = std::ranges::find(row, last, &chain_piece::last);
  return found == row.end() ? nullptr : &*found;
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
