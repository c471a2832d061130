#pragma once
// The units of a training step, and which come before which. Pure arithmetic, standard library only (policies include
// this file). The same as data: partition/graph/train_graph.hpp.

#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>

namespace hydra {

/// Consecutive micro-batches of a step.
struct micro_batch_range {
  micro_batch_index first;
  std::uint32_t count = 0;
  friend bool operator==(const micro_batch_range&, const micro_batch_range&) = default;
};

/// Visits of one wave of one replica follow each other: they are a lane, F_0 .. F_{S-2}, B_{S-1} (with the loss) ..
/// B_t, where t is the first shard with trained parameters.
/// B_s of a wave also follows B_s of the wave before, because the gradient sum of the shard passes from wave to wave.
/// Nodes are the visits of all lanes, without model, step and attempt, numbered so that each comes after its
/// predecessors.
class step_graph {
 public:
  using node = std::uint32_t;

  /// Throws as check_shape().
  explicit step_graph(const step_shape& shape);

  const step_shape& shape() const noexcept { return shape_; }
  std::uint32_t lanes() const noexcept { return shape_.lanes(); }
  node size() const noexcept { return lanes() * lane_length(); }

  // -- a lane ------------------------------------------------------------------------------------------------------
  std::uint32_t lane_length() const noexcept { return 2 * shape_.shards - 1 - shape_.first_trained; }
  std::uint32_t lane_of(const unit& u) const noexcept { return u.replica.value * shape_.waves + u.wave.value; }
  micro_batch_range micro_batches_of(std::uint32_t lane) const noexcept {
    return {.first = micro_batch_index{lane * shape_.lane_size()}, .count = shape_.lane_size()};
  }
  std::uint32_t lane_of(micro_batch_index k) const noexcept { return k.value / shape_.lane_size(); }
  direction way_at(std::uint32_t place) const noexcept {
    return place + 1 < shape_.shards ? direction::forward : direction::backward;
  }
  std::uint32_t shard_at(std::uint32_t place) const noexcept {
    return place + 1 < shape_.shards ? place : 2 * (shape_.shards - 1) - place;
  }
  /// The place of a training unit in its lane.
  std::uint32_t place_of(direction way, shard_index shard) const noexcept {
    return way == direction::forward ? shard.value : 2 * (shape_.shards - 1) - shard.value;
  }

  // -- nodes -------------------------------------------------------------------------------------------------------
  /// Its model, step and attempt are 0.
  unit at(node n) const noexcept;
  /// The node of a training unit, whatever its model, step and attempt.
  node of(const unit& u) const noexcept { return lane_of(u) * lane_length() + place_of(u.way, u.shard); }

 private:
  step_shape shape_;
};

inline bool same_lane(const unit& a, const unit& b) noexcept {
  return a.model == b.model && a.replica == b.replica && a.wave == b.wave;
}

/// True if `a` is visited before `b`, whatever their attempts. Both belong to one lane. An evaluation
/// reads the version from which its step starts, so it comes before the training units of that step; it goes through
/// all shards with one range of micro-batches before it starts the next range.
bool visited_before(const unit& a, const unit& b) noexcept;

/// True if `later` can only be visited after `earlier`, because it comes later in its lane, or is of a later wave of
/// that step and reads a gradient sum that can only be there after `earlier`. Whatever their attempts.
bool follows(const unit& later, const unit& earlier) noexcept;

/// True if `later` adds to the gradient sum that `earlier`, the same visit of the wave before, leaves. Whatever their
/// attempts.
inline bool adds_to_sum_of(const unit& later, const unit& earlier) noexcept {
  return later.way == direction::backward && earlier.way == direction::backward && later.model == earlier.model &&
         later.replica == earlier.replica && later.wave.value == earlier.wave.value + 1 && later.step == earlier.step &&
         later.shard == earlier.shard;
}

}  // namespace hydra
