#include "partition/plan/piece_table.hpp"

#include "partition/profile/side_by_side.hpp"

#include <algorithm>

namespace hydra {

namespace {

/// Times and bytes that grow monotonically with a piece.
struct growth {
  duration forward{};
  duration backward{};
  byte_count least;  ///< of P + C + W: parameters thrice (staged, computing, gradients) and all that is saved

  void add(const layer_profile& layer) {
    forward += layer.forward;
    backward += layer.backward;
    least += layer.parameters * 3 + layer.saved;
  }

  /// The last shard's forward is part of its backward.
  duration visit(bool to_the_end) const { return to_the_end ? backward : std::max(forward, backward); }
};

std::vector<chain_piece> row_of(const chain_profile& profile, std::size_t first, byte_count usable) {
  std::vector<chain_piece> row;
  growth sum;
  for (auto last = first + 1; last <= profile.layers.size(); ++last) {
    const bool crosses = last - 1 > first && begins_shard(profile, last - 1);
    sum.add(profile.layers[last - 1]);
    if (crosses || sum.least > usable) {
      break;
    }
    const auto demand = demand_of(profile, first, last);
    if (demand.computing + demand.staging <= usable) {
      row.push_back({last, demand, sum.visit(last == profile.layers.size())});
    }
  }
  return row;
}

}  // namespace

piece_table::piece_table(const chain_profile& profile, byte_count usable) {
  for (std::size_t first = 0; first < profile.layers.size(); ++first) {
    rows_.push_back(row_of(profile, first, usable));
  }
}

duration visit_time(const chain_profile& profile, std::size_t first, std::size_t last) {
  growth sum;
  for (auto i = first; i < last; ++i) {
    sum.add(profile.layers[i]);
  }
  return sum.visit(last == profile.layers.size());
}

}  // namespace hydra
