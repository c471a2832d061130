#include "actors/model/model_results.hpp"

#include "models/chain.hpp"
#include "models/loss.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <ranges>
#include <utility>

namespace hydra {

model_results::model_results(model_id id, sharded_model_ptr what, const model_standing& before)
    : id_(id), what_(std::move(what)), history_(before.history) {
  if (what_) {
    resume_losses(before);
  }
}

void model_results::resume_losses(const model_standing& before) {
  const auto& step = what_->graphs->step;
  std::vector<micro_batch_index> known;
  for (node_index n; n.value < step.size(); n = n.next()) {
    const auto& u = step.at(n);
    const bool has_left_losses = step.is_done(n, before.next) && u.writes_any(block_role::loss);
    for (std::uint32_t k = 0; has_left_losses && k < u.what.micro_batches; ++k) {
      known.push_back(micro_batch_index{u.what.first_micro_batch.value + k});
    }
  }
  const bool awaits_norm = before.history.losses.size() < before.next.step;  // all units of a step have committed
  if ((awaits_norm || known.size() == what_->plan.micro_batches) && before.losses.size() == 1) {
    loss_ = before.losses.front();
  } else if (known.size() == before.losses.size()) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      losses_.emplace(known[i], before.losses[i]);
    }
  }
}

bool model_results::has_loss(const unit& u) const {
  const auto& graphs = *what_->graphs;
  return graphs.of(u).at(graphs.node_of(u)).writes_any(block_role::loss);
}

std::optional<float> model_results::step_losses(const unit& u, const std::vector<float>& losses) {
  if (shares()) {
    return std::nullopt;
  }
  for (std::uint32_t k = 0; k < losses.size(); ++k) {
    losses_.insert_or_assign(micro_batch_index{u.first_micro_batch.value + k}, losses[k]);
  }
  if (losses_.size() < what_->plan.micro_batches) {
    return std::nullopt;
  }
  loss_ = losses_.begin()->second;
  for (auto next = std::next(losses_.begin()); next != losses_.end(); ++next) {
    *loss_ += next->second;
  }
  losses_.clear();
  return loss_;
}

std::optional<float> model_results::gathered_losses(const std::vector<float>& losses) {
  loss_ = std::accumulate(losses.begin() + 1, losses.end(), losses.front());
  return loss_;
}

std::vector<float> model_results::open_losses() const {
  if (loss_) {
    return {*loss_};
  }
  std::vector<float> known;
  std::ranges::copy(std::views::values(losses_), std::back_inserter(known));
  return known;
}

bool model_results::step_norm(version_index version, float norm) {
  const bool counts = computed_ && version == computed_->next();
  if (counts) {
    norm_ = norm;
  }
  return counts;
}

std::optional<step_completed> model_results::take_step() {
  if (!computed_ || (clips() && !norm_) || (shares() && !loss_)) {
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
  return {id_, what_->name, index + 1, what_->steps, history_.losses[index],
          clips() ? history_.grad_norms[index] : 0.0F};
}

bool model_results::add_scores(const unit& u, std::size_t targets, std::vector<evaluation_score> scores) {
  evaluated_targets_ += targets;
  scored_ += u.micro_batches;
  scores_.insert_or_assign(u.first_micro_batch, std::move(scores));
  return scored_ == what_->plan.evaluation.micro_batches;
}

bool model_results::finish_evaluation(std::uint32_t steps) {
  const bool simulated = !what_->model;
  const auto targets = static_cast<double>(simulated ? std::size_t{1} : evaluated_targets_);  // without targets: NaN
  double loss = 0;
  double correct = 0;
  for (const auto& score : std::views::join(std::views::values(scores_))) {
    loss += double{score.loss};
    correct += double{score.correct};
  }
  evaluation_record result{steps, loss / targets};
  const bool classes = what_->plan.shards.back().second_spec.type == element::i64;
  if (what_->model && classes && what_->model->objective().counts_correct()) {
    result.accuracy = correct / targets;
  }
  scores_.clear();
  scored_ = evaluated_targets_ = 0;
  history_.evaluations.push_back(result);
  return targets == 0 || std::isfinite(result.loss);
}

evaluation_completed model_results::evaluation() const {
  const auto& last = history_.evaluations.back();
  return {id_, what_->name, last.steps, last.loss, last.accuracy, history_.evaluations};
}

}  // namespace hydra
