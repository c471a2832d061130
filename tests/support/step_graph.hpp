#pragma once
// The units of a training step, and which come before which, by arithmetic on shapes and names: the order that graphs
// (partition/graph) are compared with.

#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace hydra::test {

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
  explicit step_graph(const step_shape& shape) : shape_(shape) { check_shape(shape); }

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

inline unit step_graph::at(node n) const noexcept {
  const auto lane = n / lane_length();
  const auto place = n % lane_length();
  const auto range = micro_batches_of(lane);
  unit u;
  u.replica = replica_id{lane / shape_.waves};
  u.wave = wave_index{lane % shape_.waves};
  u.way = way_at(place);
  u.shard = shard_index{shard_at(place)};
  u.first_micro_batch = range.first;
  u.micro_batches = range.count;
  return u;
}

/// Of a node, in ascending order; at most two.
inline std::vector<step_graph::node> predecessors(const step_graph& graph, step_graph::node n) {
  const auto place = n % graph.lane_length();
  const auto wave = n / graph.lane_length() % graph.shape().waves;
  std::vector<step_graph::node> found;
  if (graph.way_at(place) == direction::backward && wave > 0) found.push_back(n - graph.lane_length());
  if (place > 0) found.push_back(n - 1);
  return found;
}

/// True if `a` is visited before `b`, whatever their attempts. Both belong to one lane. An evaluation
/// reads the version from which its step starts, so it comes before the training units of that step; it goes through
/// all shards with one range of micro-batches before it starts the next range.
inline bool visited_before(const unit& a, const unit& b) noexcept {
  const auto key = [](const unit& u) {
    const auto shard = std::int64_t{u.shard.value};
    const auto phase = u.way == direction::evaluate ? 0 : u.way == direction::forward ? 1 : 2;
    return std::tuple{u.step, phase, u.first_micro_batch, u.way == direction::backward ? -shard : shard};
  };
  return key(a) < key(b);
}

/// True if `later` can only be visited after `earlier`, because it comes later in its lane, or is of a later wave of
/// that step and reads a gradient sum that can only be there after `earlier`. Whatever their attempts.
inline bool follows(const unit& later, const unit& earlier) noexcept {
  if (same_lane(later, earlier)) {
    return visited_before(earlier, later);
  }
  const bool passes_sums = later.model == earlier.model && later.replica == earlier.replica &&
                           later.step == earlier.step && later.wave > earlier.wave &&
                           later.way == direction::backward && earlier.way != direction::evaluate;
  return passes_sums && (earlier.way == direction::forward || later.shard <= earlier.shard);
}

/// True if `later` adds to the gradient sum that `earlier`, the same visit of the wave before, leaves. Whatever their
/// attempts.
inline bool adds_to_sum_of(const unit& later, const unit& earlier) noexcept {
  return later.way == direction::backward && earlier.way == direction::backward && later.model == earlier.model &&
         later.replica == earlier.replica && later.wave.value == earlier.wave.value + 1 && later.step == earlier.step &&
         later.shard == earlier.shard;
}

}  // namespace hydra::test
