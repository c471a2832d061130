#pragma once
// The order of a model's units and the time that is left of it.

#include "runtime/bytes.hpp"
#include "runtime/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// Position of a unit in its model: step and index in the step's chain F_0 .. F_{S-2}, B_{S-1}, .. B_0.
struct unit_position {
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const unit_position&, const unit_position&) = default;
};

/// Pure arithmetic over one model's chain of units, and its measured unit times.
class cursor {
 public:
  /// `shards`, `steps`, `micro_batches` >= 1.
  cursor(model_id model, std::uint32_t shards, std::uint32_t steps, std::uint32_t micro_batches);

  std::uint32_t units_per_step() const noexcept { return 2 * shards_ - 1; }
  std::uint32_t steps() const noexcept { return steps_; }
  bool at_end(unit_position p) const noexcept { return p.step >= steps_; }
  unit_position next(unit_position p) const noexcept;
  /// The unit before, or nothing for the very first.
  std::optional<unit_position> previous(unit_position p) const noexcept;
  bool first_of_step(unit_position p) const noexcept { return p.index == 0; }
  bool last_of_step(unit_position p) const noexcept { return p.index + 1 == units_per_step(); }

  unit unit_at(unit_position p, std::uint32_t attempt) const;
  unit_position position_of(const unit& u) const noexcept;

  /// Planned or measured time of a unit class at speed 1. Measured times replace the plan's; later ones are averaged
  /// in (weight 1/4), so that the remaining time follows the run.
  void set_time(direction way, std::uint32_t shard, duration planned);
  void measured(const unit& u, duration at_speed_one);
  duration time_of(unit_position p) const;

  /// Paper, Algorithm 2: (steps left - 1) * time of a step + what is left of the present one, from `p` on.
  duration remaining(unit_position p) const;

  /// Stops the model after `completed` steps.
  void truncate(std::uint32_t completed) noexcept { steps_ = completed; }

 private:
  std::size_t class_of(unit_position p) const noexcept { return p.index; }
  model_id model_;
  std::uint32_t shards_;
  std::uint32_t steps_;
  std::uint32_t micro_batches_;
  std::vector<duration> times_;     ///< per index in the step
  std::vector<bool> seen_;
  duration step_time_{};
};

}  // namespace hydra
