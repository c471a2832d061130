#pragma once
// The units of a training step, and which come before which, by arithmetic on shapes and names: the order that graphs
// (partition/graph) are compared with.

#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace hydra::test {

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

  std::uint32_t lanes() const noexcept { return shape_.lanes(); }
  std::uint32_t lane_length() const noexcept { return 2 * shape_.shards - 1 - shape_.first_trained; }
  node size() const noexcept { return lanes() * lane_length(); }

  std::uint32_t lane_of(const unit& u) const noexcept { return u.replica.value * shape_.waves + u.wave.value; }
  /// Its model, step and attempt are 0.
  unit at(node n) const noexcept;
  /// In ascending order; at most two.
  std::vector<node> predecessors(node n) const;

 private:
  direction way_at(std::uint32_t place) const noexcept {
    return place + 1 < shape_.shards ? direction::forward : direction::backward;
  }

  step_shape shape_;
};

inline unit step_graph::at(node n) const noexcept {
  const auto lane = n / lane_length();
  const auto place = n % lane_length();
  unit u;
  u.replica = replica_id{lane / shape_.waves};
  u.wave = wave_index{lane % shape_.waves};
  u.way = way_at(place);
  u.shard = shard_index{u.way == direction::forward ? place : 2 * (shape_.shards - 1) - place};
  u.first_micro_batch = micro_batch_index{lane * shape_.lane_size()};
  u.micro_batches = shape_.lane_size();
  return u;
}

inline std::vector<step_graph::node> step_graph::predecessors(node n) const {
  const auto place = n % lane_length();
  const auto wave = n / lane_length() % shape_.waves;
  std::vector<node> found;
  if (way_at(place) == direction::backward && wave > 0) found.push_back(n - lane_length());
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
