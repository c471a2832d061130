#pragma once
// Losses, norms and evaluations of one model: a step or an evaluation is complete when all its parts are known.

#include "actors/protocol/events.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hydra {

class model_results {
 public:
  /// `before`: what a checkpoint has.
  model_results(model_id id, sharded_model_ptr what, const model_standing& before);

  /// The unit computes the losses, or scores, of its micro-batches.
  bool has_loss(const unit& u) const;

  // -- steps -------------------------------------------------------------------------------------------------------
  /// Of the micro-batches of one unit. The step's loss is their sum in micro-batch order, whichever came first;
  /// returned when all are known.
  std::optional<float> step_losses(const unit& u, const std::vector<float>& losses);
  /// The same of all micro-batches of a step, of which units here have only a share.
  std::optional<float> gathered_losses(const std::vector<float>& losses);
  /// The last unit of the step has committed.
  void step_computed(step_index step) { computed_ = step; }
  /// Every shard's update has the same norm; only the first one that is of the open step counts. False for the others.
  bool step_norm(version_index version, float norm);
  /// The open step, once its last unit has committed and, with clipping, its norm is known; then no step is open.
  std::optional<step_completed> take_step();
  /// A step has committed and is not complete yet.
  bool step_is_open() const noexcept { return computed_.has_value(); }
  /// Of the step that is not complete, for checkpoints.
  std::vector<float> open_losses() const;
  step_completed step(std::uint32_t index) const;

  // -- evaluations -------------------------------------------------------------------------------------------------
  /// Scores of the micro-batches of one visit. They are added in micro-batch order: the sum does not depend on how many
  /// micro-batches a visit has, nor on which one was first. True if no micro-batch is missing.
  bool add_scores(const unit& u, std::size_t targets, std::vector<evaluation_score> scores);
  /// Closes the evaluation after `steps` steps and adds it to the history. False if its loss is not finite although it
  /// had targets: without any there is no loss.
  bool finish_evaluation(std::uint32_t steps);
  /// The last one.
  evaluation_completed evaluation() const;

  const model_history& history() const noexcept { return history_; }

 private:
  void resume_losses(const model_standing& before);
  bool shares() const { return what_ && !what_->share.whole(); }
  bool clips() const { return what_->update.clip_norm > 0; }

  model_id id_;
  sharded_model_ptr what_;
  model_history history_;
  std::map<micro_batch_index, float> losses_;   ///< of the open step, until all are known
  std::optional<float> loss_;            ///< of the open step
  std::optional<float> norm_;
  std::optional<step_index> computed_;   ///< the open step
  std::map<micro_batch_index, std::vector<evaluation_score>> scores_;   ///< of the evaluation under way: by first
                                                                        ///< micro-batch of a visit
  std::size_t scored_ = 0;               ///< micro-batches of it
  std::size_t evaluated_targets_ = 0;
};

}  // namespace hydra
