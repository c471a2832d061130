#pragma once
// All pieces of a chain that a cut may consist of, with the memory and the time of each.

#include "partition/plan/cut.hpp"
#include "partition/profile/profile.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

/// Layers from the first layer of the table's row up to `last` (one past the end).
struct chain_piece {
  std::size_t last = 0;
  shard_demand demand;
  duration visit{};  ///< the longer of forward and backward, of one micro-batch
};

/// Computed once for each profile; every cut is then looked up. Pieces that cannot be part of any cut within `usable`
/// bytes (P + C + W exceeds them) are left out.
class piece_table {
 public:
  piece_table(const chain_profile& profile, byte_count usable);

  std::size_t layers() const noexcept { return rows_.size(); }
  /// Pieces that start with layer `first`, ascending by their end.
  std::span<const chain_piece> from(std::size_t first) const { return rows_[first]; }

 private:
  std::vector<std::vector<chain_piece>> rows_;
};

/// Time of the longest unit of a shard of layers [first, last), of one micro-batch.
duration visit_time(const chain_profile& profile, std::size_t first, std::size_t last);

}  // namespace hydra
