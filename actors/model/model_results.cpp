#include "actors/model/model_results.hpp"

#include "models/chain.hpp"
#include "models/loss.hpp"

#include <utility>

namespace hydra {

model_results::model_results(model_id id, sharded_model_ptr what, const model_standing& before)
    : id_(id), what_(std::move(what)), history_(before.history), loss_(before.loss) {}

bool model_results::step_norm(version_index version, float norm) {
  const bool counts = computed_ && version == computed_->next();
  if (counts) {
    norm_ = norm;
  }
  return counts;
}

std::optional<step_completed> model_results::take_step() {
  if (!computed_ || (clips() && !norm_)) {
    return std::nullopt;
  }
  history_.losses.push_back(loss_.value_or(0.0F));
  if (clips()) {
    history_.grad_norms.push_back(*norm_);
  }
  const auto complete = step(computed_->value);
  computed_.reset();
  norm_.reset();
  loss_.reset();
  return complete;
}

step_completed model_results::step(std::uint32_t index) const {
  return {id_, what_->name, step_index{index}, what_->steps, history_.losses[index],
          clips() ? history_.grad_norms[index] : 0.0F};
}

void model_results::add_scores(std::size_t targets, const std::vector<evaluation_score>& scores) {
  evaluated_targets_ += targets;
  for (const auto& score : scores) {
    evaluated_loss_ += double{score.loss};
    evaluated_correct_ += double{score.correct};
  }
}

void model_results::finish_evaluation(std::uint32_t steps) {
  const bool simulated = !what_->model;
  const auto targets = static_cast<double>(simulated ? std::size_t{1} : evaluated_targets_);  // without targets: NaN
  evaluation_record result{steps, evaluated_loss_ / targets};
  const bool classes = what_->plan.shards.back().second_spec.type == element::i64;
  if (what_->model && classes && what_->model->objective().counts_correct()) {
    result.accuracy = evaluated_correct_ / targets;
  }
  evaluated_loss_ = evaluated_correct_ = 0;
  evaluated_targets_ = 0;
  history_.evaluations.push_back(result);
}

evaluation_completed model_results::evaluation() const {
  const auto& last = history_.evaluations.back();
  return {id_, what_->name, last.steps, last.loss, last.accuracy, history_.evaluations};
}

}  // namespace hydra
