#pragma once
// Losses, norms and evaluations of one model: a step or an evaluation is complete when all its parts are known.

#include "actors/protocol/events.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

class model_results {
 public:
  /// `before`: what a checkpoint has.
  model_results(model_id id, sharded_model_ptr what, const model_standing& before);

  // -- steps -------------------------------------------------------------------------------------------------------
  void step_loss(float loss) { loss_ = loss; }
  /// The last unit of the step has committed.
  void step_computed(step_index step) { computed_ = step; }
  /// Every shard's update has the same norm; only the first one that is of the open step counts. False for the others.
  bool step_norm(version_index version, float norm);
  /// The open step, once its last unit has committed and, with clipping, its norm is known; then no step is open.
  std::optional<step_completed> take_step();
  /// A step has committed and is not complete yet.
  bool step_is_open() const noexcept { return computed_.has_value(); }
  /// Of the step that is not complete, for checkpoints.
  const std::optional<float>& open_loss() const noexcept { return loss_; }
  step_completed step(std::uint32_t index) const;

  // -- evaluations -------------------------------------------------------------------------------------------------
  /// Scores of the micro-batches of one visit, which complete in order: the sum does not depend on how many
  /// micro-batches a visit has.
  void add_scores(std::size_t targets, const std::vector<evaluation_score>& scores);
  /// Closes the evaluation after `steps` steps and adds it to the history.
  void finish_evaluation(std::uint32_t steps);
  /// The last one.
  evaluation_completed evaluation() const;

  const model_history& history() const noexcept { return history_; }

 private:
  bool clips() const { return what_->update.clip_norm > 0; }

  model_id id_;
  sharded_model_ptr what_;
  model_history history_;
  std::optional<float> loss_;            ///< of the open step
  std::optional<float> norm_;
  std::optional<step_index> computed_;   ///< the open step
  double evaluated_loss_ = 0;            ///< of the evaluation that is under way
  double evaluated_correct_ = 0;
  std::size_t evaluated_targets_ = 0;
};

}  // namespace hydra
