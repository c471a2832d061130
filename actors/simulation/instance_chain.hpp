#pragma once
// The units of one model of a scheduling instance: its step graph, with the time of each unit and copy.

#include "actors/policy/flight.hpp"
#include "actors/simulation/instance.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/model_graphs.hpp"
#include "runtime/base/work_graph.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// How long a unit takes, and the blocks of its node that are copied.
struct instance_unit {
  duration cost{};
  duration left{};                          ///< of its lane in the step, from it on
  block_index parameters{};
  std::optional<block_index> base{};
  std::optional<block_index> boundary{};    ///< what the unit before it in its lane has left for it
  std::optional<block_index> checkpoint{};  ///< its input, if another unit of the lane has left that
  std::optional<block_index> sum_before{};  ///< it adds to this gradient sum
  std::optional<block_index> output{};
  std::optional<block_index> sum{};
};

/// A unit of a lane.
struct chain_position {
  std::uint32_t step = 0;
  node_index node{};
  friend auto operator<=>(const chain_position&, const chain_position&) = default;
};

class instance_chain {
 public:
  /// `base_owner` names its base.
  instance_chain(const instance_model& model, model_id id, model_id base_owner);

  const work_graph& graph() const noexcept { return graphs_->step; }
  const model_graphs_ptr& graphs() const noexcept { return graphs_; }
  std::uint32_t steps() const noexcept { return steps_; }
  const instance_unit& at(node_index n) const { return units_.at(n.value); }
  shard_index shard_of(node_index n) const { return graph().at(n).what.shard; }
  /// Gradient sums from which the shard is stepped, of each replica one.
  const std::vector<block_index>& whole_sums(shard_index s) const { return whole_sums_.at(s.value); }
  /// In either direction.
  duration copy_of(block_index b) const;

  chain_position position_of(const unit& u) const { return {u.step.value, graphs_->node_of(u)}; }
  std::uint32_t lane_of(const unit& u) const { return graph().lane_of(graphs_->node_of(u)); }
  /// The next one in its lane; after the last one the first of a step that is not made.
  chain_position after(const chain_position& p) const;
  /// What the model's task would announce.
  unit_ready announcement(const chain_position& p) const;

 private:
  instance_unit unit_of(node_index n, const instance_model& model) const;
  /// Remaining wall time of a lane from a unit on; zero after the last.
  duration remaining(const chain_position& p) const;

  model_id id_;
  model_graphs_ptr graphs_;
  std::uint32_t steps_;
  double scale_;
  std::vector<instance_unit> units_;                   ///< of each node
  std::vector<std::vector<block_index>> whole_sums_;  ///< of each shard
};

/// The name of the shard's frozen parameters, if it has some.
std::optional<block_id> base_name(const instance_model& model, shard_index shard, model_id base_owner);

/// Links of an instance carry one byte in a nanosecond.
constexpr byte_count bytes_for(duration copy) noexcept { return byte_count{static_cast<std::uint64_t>(copy.count())}; }
constexpr byte_rate instance_link{1e9};

}  // namespace hydra
