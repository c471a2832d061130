#pragma once
// The units of a model in the order of its lanes, step by step, and its remaining time.

#include "partition/plan/plan.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/model_graphs.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/base/work_graph.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace hydra {

/// A step starts with the evaluation of the version that it reads, if there is one; then it is trained. An evaluation
/// after the last step is in a step of its own.
enum class turn_kind : std::uint8_t { evaluation, training };

/// Position of a unit in its lane: the turn, and how many units of the lane come before it there.
struct unit_position {
  std::uint32_t step = 0;
  turn_kind turn = turn_kind::training;
  std::uint32_t index = 0;
  std::uint32_t lane = 0;
  /// Training units of the lane in the step before it.
  std::uint32_t trained() const noexcept { return turn == turn_kind::training ? index : 0; }
  friend auto operator<=>(const unit_position&, const unit_position&) = default;
};

/// When a model is evaluated, and with how many micro-batches: after every `every` steps (0: never) and after the last.
struct evaluation_schedule {
  std::uint32_t every = 0;
  evaluation_range range;
  /// True if a model of `steps` steps is evaluated when `done` of them are complete.
  bool is_due(std::uint32_t done, std::uint32_t steps) const noexcept;
  /// Its evaluations when more than `done` of them are complete.
  std::uint32_t due_after(std::uint32_t done, std::uint32_t steps) const noexcept;
};

/// The graphs of a model, one after the other, and the measured times of its units. The rounds of an evaluation are
/// dealt to the lanes in turn, and a lane goes through one after the other.
class cursor {
 public:
  /// `graphs` have the rounds of the schedule. A model without steps is only evaluated.
  cursor(model_id model, model_graphs_ptr graphs, std::uint32_t steps, const evaluation_schedule& evaluation = {});
  const evaluation_schedule& evaluation() const noexcept { return evaluation_; }

  /// Of a step.
  const work_graph& graph() const noexcept { return graphs_->step; }
  std::uint32_t lanes() const noexcept { return graph().lanes(); }
  std::uint32_t steps() const noexcept { return steps_; }
  /// Of the whole model: all steps, all evaluations.
  std::uint64_t units() const noexcept;
  /// True if the model is evaluated when `step` steps are complete.
  bool evaluates_after(std::uint32_t step) const noexcept { return evaluation_.is_due(step, steps_); }

  // -- positions ---------------------------------------------------------------------------------------------------
  unit_position begin_of(std::uint32_t step, std::uint32_t lane) const;
  /// After so many training units of the step; without any at its begin, or after its evaluation if that has been done.
  unit_position position_in(std::uint32_t step, std::uint32_t done, bool evaluated, std::uint32_t lane) const;
  unit_position position_of(const unit& u) const;
  unit unit_at(const unit_position& p, std::uint32_t attempt) const;
  bool at_end(const unit_position& p) const;
  unit_position next(unit_position p) const;
  bool first_of_step(const unit_position& p) const { return p == begin_of(p.step, p.lane); }
  /// The unit is the last of a round of an evaluation.
  bool ends_round(const unit_position& p) const;
  /// Those of other lanes that write what the unit reads.
  std::vector<unit_position> joined(const unit_position& p) const;
  /// The unit writes the parameters with which `next`, of the step after it, works.
  bool makes_version_of(const unit_position& p, const unit& next) const;

  // -- times -------------------------------------------------------------------------------------------------------
  /// Planned or measured time of a unit class at speed 1; of evaluations for one micro-batch. Measured times replace
  /// the plan's; later ones are averaged in (weight 1/4), so that the remaining time follows the run.
  void set_time(direction way, std::uint32_t shard, duration planned) { class_of(way, shard).time = planned; }
  void measured(const unit& u, duration at_speed_one);
  duration time_of(const unit& u) const;

  /// Paper, Algorithm 2, for the lane: (remaining steps - 1) * time of a step + the rest of the current one, from `p`
  /// on; and the remaining evaluations. Of a piece that of piece 0: what follows waits for all of them.
  duration remaining(const unit_position& p) const;

  /// The model ends after `completed` steps.
  void truncate(std::uint32_t completed) noexcept { steps_ = completed; }

 private:
  struct unit_class {
    duration time{};
    bool seen = false;
  };
  node_index node_of(const unit_position& p) const;
  node_index in_first_lane(node_index n) const;
  unit_position position_of(node_index n, std::uint32_t step) const;
  /// Of an evaluation; all have the same nodes.
  const work_graph& round() const noexcept { return graphs_->rounds.begin()->second; }
  /// Micro-batch of its round.
  std::uint32_t first_of(const unit_position& p) const;
  unit evaluation_at(const unit_position& p) const;
  /// The round that starts with micro-batch `first`, and those after it that its lane has.
  duration rounds_from(std::uint32_t first) const;
  duration evaluation_left(const unit_position& p) const;
  unit_class class_of(direction way, std::uint32_t shard) const;
  unit_class& class_of(direction way, std::uint32_t shard);

  model_id model_;
  model_graphs_ptr graphs_;
  std::uint32_t steps_;
  evaluation_schedule evaluation_;
  std::array<std::vector<unit_class>, 3> classes_;   ///< by direction and shard; of evaluations for one micro-batch
};

}  // namespace hydra
