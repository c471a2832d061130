#pragma once
// The units of one lane of a model, step by step, and its remaining time.

#include "partition/plan/plan.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/step_graph.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// Position of a unit in its lane: step and index. A step starts with the evaluation of the version that it reads, if
/// there is one (range by range through all shards), then come its training units (step_graph). An evaluation after the
/// last step is a step of its own.
struct unit_position {
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const unit_position&, const unit_position&) = default;
};

/// When a model is evaluated, and with how many micro-batches: after every `every` steps (0: never) and after the last.
struct evaluation_schedule {
  std::uint32_t every = 0;
  evaluation_range range;
};

/// Pure arithmetic over the units of one lane, and their measured times. The ranges of an evaluation are dealt to the
/// lanes in turn.
class cursor {
 public:
  /// A model without steps is only evaluated. Throws fault_error{bad_input} for a shape that is none.
  cursor(model_id model, const step_shape& shape, std::uint32_t steps, std::uint32_t lane = 0);
  void evaluate(const evaluation_schedule& schedule) noexcept { evaluation_ = schedule; }
  const evaluation_schedule& evaluation() const noexcept { return evaluation_; }

  /// Of training alone.
  std::uint32_t units_per_step() const noexcept { return graph_.lane_length(); }
  std::uint32_t steps() const noexcept { return steps_; }
  /// Of the whole lane: all steps, all evaluations.
  std::uint64_t units() const noexcept;
  /// True if the model is evaluated when `step` steps are complete.
  bool evaluates_after(std::uint32_t step) const noexcept;
  /// Number of evaluations after more than `step` steps.
  std::uint32_t evaluations_after(std::uint32_t step) const noexcept;
  const step_graph& graph() const noexcept { return graph_; }

  bool at_end(unit_position p) const noexcept { return p.index >= units_in(p.step); }
  unit_position next(unit_position p) const noexcept;
  bool first_of_step(unit_position p) const noexcept { return p.index == 0; }

  unit unit_at(unit_position p, std::uint32_t attempt) const;
  /// The unit at this position if it belongs to an evaluation.
  std::optional<unit> evaluation_unit(unit_position p) const;
  unit_position position_of(const unit& u) const noexcept;
  /// Unit `training_unit` (0: F_0, ..) of step `step`; if that is the first, the step's evaluation comes before it
  /// unless it has been done.
  unit_position position_in(std::uint32_t step, std::uint32_t training_unit, bool evaluated) const noexcept;
  /// Of the training units of its step; 0 inside an evaluation.
  std::uint32_t training_unit(unit_position p) const noexcept;

  /// Planned or measured time of a unit class at speed 1; of evaluations for one micro-batch. Measured times replace
  /// the plan's; later ones are averaged in (weight 1/4), so that the remaining time follows the run.
  void set_time(direction way, std::uint32_t shard, duration planned);
  void measured(const unit& u, duration at_speed_one);
  duration time_of(unit_position p) const;

  /// Paper, Algorithm 2: (remaining steps - 1) * time of a step + the rest of the current one, from `p` on; and the
  /// remaining evaluations.
  duration remaining(unit_position p) const;

  /// The model ends after `completed` steps.
  void truncate(std::uint32_t completed) noexcept { steps_ = completed; }

 private:
  struct unit_class {
    duration time{};
    bool seen = false;
  };
  std::uint32_t evaluations_in(std::uint32_t step) const noexcept;
  std::uint32_t units_in(std::uint32_t step) const noexcept;
  /// Ranges of an evaluation that this lane visits.
  std::uint32_t rounds() const noexcept;
  std::uint32_t evaluated_micro_batches() const noexcept;
  unit evaluation_at(std::uint32_t index) const;
  /// Of an evaluation from its unit `index` on.
  duration evaluation_left(std::uint32_t index) const;
  const unit_class& class_of(direction way, std::uint32_t shard) const;
  unit_class& class_of(direction way, std::uint32_t shard);

  model_id model_;
  step_graph graph_;
  std::uint32_t lane_;
  std::uint32_t steps_;
  evaluation_schedule evaluation_;
  std::vector<unit_class> forward_;      ///< per shard
  std::vector<unit_class> backward_;
  std::vector<unit_class> evaluate_;     ///< per shard, for one micro-batch
};

}  // namespace hydra
