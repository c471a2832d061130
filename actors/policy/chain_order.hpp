#pragma once
// The order of a model's units in time. Standard library only.

#include "runtime/base/unit.hpp"

#include <cstdint>
#include <tuple>

namespace hydra {

/// Sort key of a visit within its model, independent of the attempt. A step is F_0 .. F_{S-2}, B_{S-1} .. B_0; the step
/// of an evaluation visit is the version it reads, so it comes before the forward visits that make the next version. An
/// evaluation goes through all shards with one range of micro-batches before it starts the next range.
inline auto chain_position(const unit& u) noexcept {
  const auto shard = std::int64_t{u.shard.value};
  const auto phase = u.way == direction::evaluate ? 0 : u.way == direction::forward ? 1 : 2;
  const auto range = u.way == direction::evaluate ? u.first_micro_batch : micro_batch_index{};
  return std::tuple{u.step, phase, range, u.way == direction::backward ? -shard : shard, u.first_micro_batch, u.replica};
}

/// True if `a` is visited before `b`.
inline bool visited_before(const unit& a, const unit& b) noexcept { return chain_position(a) < chain_position(b); }

}  // namespace hydra
