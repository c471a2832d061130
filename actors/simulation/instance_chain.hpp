#pragma once
// The units of one model of a scheduling instance, with the time of each. Pure arithmetic.

#include "actors/policy/flight.hpp"
#include "actors/simulation/instance.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/model_graphs.hpp"
#include "runtime/base/step_graph.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// All lanes of its step_graph have the same units, counted within a step.
class instance_chain {
 public:
  /// `base_owner` names its base.
  instance_chain(const instance_model& model, model_id id, model_id base_owner);

  std::uint32_t shards() const noexcept { return graph_.shape().shards; }
  std::uint32_t steps() const noexcept { return steps_; }
  const step_graph& graph() const noexcept { return graph_; }
  /// Of one lane.
  std::uint32_t units_per_step() const noexcept { return graph_.lane_length(); }

  std::uint32_t shard_of(std::uint32_t index) const noexcept { return graph_.shard_at(index); }
  bool is_forward(std::uint32_t index) const noexcept { return graph_.way_at(index) == direction::forward; }
  /// F and L read a version that no unit of the step has read before.
  bool opens_version(std::uint32_t index) const noexcept { return index < shards(); }
  /// B_s with 1 <= s <= S-2 reads the output of F_{s-1}.
  bool reads_checkpoint(std::uint32_t index) const noexcept {
    return index >= shards() && shard_of(index) > 0;
  }
  bool ends_step(std::uint32_t index) const noexcept { return index + 1 == units_per_step(); }
  /// A backward unit of this lane adds to the sum of the lane before.
  bool continues_sum(std::uint32_t lane, std::uint32_t index) const noexcept {
    return !is_forward(index) && lane % graph_.shape().waves > 0;
  }
  /// The sums of its units are those of its replica.
  bool completes_sum(std::uint32_t lane) const noexcept { return (lane + 1) % graph_.shape().waves == 0; }

  duration cost(std::uint32_t index) const { return costs_[index]; }
  /// The frozen parameters of a shard, if it has some.
  const std::optional<block_id>& base_of(std::uint32_t shard) const { return bases_[shard]; }
  /// Remaining wall time of a lane from a unit on; zero after the last.
  duration remaining(std::uint32_t step, std::uint32_t index) const;

  unit unit_at(std::uint32_t lane, std::uint32_t step, std::uint32_t index) const;
  /// What the model's task would announce.
  ready_unit announcement(const unit& u) const;
  std::uint32_t index_of(const unit& u) const noexcept { return graph_.place_of(u.way, u.shard); }

 private:
  model_id id_;
  step_graph graph_;
  std::uint32_t steps_;
  double scale_;
  std::vector<std::optional<block_id>> bases_;
  std::vector<duration> costs_;
  std::vector<duration> left_in_step_;   ///< from each unit on
};

/// The same as data, with the bytes that its copies say.
model_graphs_ptr graphs_of(const instance_model& model, const instance_chain& chain);

/// Links of an instance carry one byte in a nanosecond.
constexpr byte_count bytes_for(duration copy) noexcept { return byte_count{static_cast<std::uint64_t>(copy.count())}; }
constexpr byte_rate instance_link{1e9};

}  // namespace hydra
