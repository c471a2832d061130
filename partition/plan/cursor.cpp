#include "partition/plan/cursor.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

cursor::cursor(model_id model, const step_shape& shape, std::uint32_t steps, std::uint32_t lane)
    : model_(model),
      graph_(shape),
      lane_(lane),
      steps_(steps),
      forward_(shape.shards),
      backward_(shape.shards),
      evaluate_(shape.shards) {}

// -- order ------------------------------------------------------------------------------------------------------------

bool cursor::evaluates_after(std::uint32_t step) const noexcept {
  if (evaluation_.range.micro_batches == 0 || (step == 0 && steps_ > 0) || step > steps_) {
    return false;
  }
  return step == steps_ || (evaluation_.every > 0 && step % evaluation_.every == 0);
}

std::uint32_t cursor::rounds() const noexcept {
  const auto all = evaluation_.range.rounds();
  return all / graph_.lanes() + (lane_ < all % graph_.lanes() ? 1 : 0);
}

std::uint32_t cursor::evaluations_in(std::uint32_t step) const noexcept {
  return evaluates_after(step) ? rounds() * graph_.shape().shards : 0;
}

std::uint64_t cursor::units() const noexcept {
  const std::uint64_t evaluations = steps_ == 0 && evaluates_after(0) ? 1 : evaluations_after(0);
  return std::uint64_t{steps_} * units_per_step() + evaluations * rounds() * graph_.shape().shards;
}

std::uint32_t cursor::units_in(std::uint32_t step) const noexcept {
  return evaluations_in(step) + (step < steps_ ? units_per_step() : 0);
}

unit_position cursor::next(unit_position p) const noexcept {
  return p.index + 1 >= units_in(p.step) ? unit_position{p.step + 1, 0} : unit_position{p.step, p.index + 1};
}

unit cursor::evaluation_at(std::uint32_t index) const {
  const auto shards = graph_.shape().shards;
  auto u = graph_.at(lane_ * graph_.lane_length());
  u.way = direction::evaluate;
  u.shard = shard_index{index % shards};
  u.first_micro_batch = micro_batch_index{(index / shards * graph_.lanes() + lane_) * evaluation_.range.round};
  u.micro_batches = evaluation_.range.size_of(u.first_micro_batch.value);
  return u;
}

unit cursor::unit_at(unit_position p, std::uint32_t attempt) const {
  const auto evaluations = evaluations_in(p.step);
  auto u = p.index < evaluations ? evaluation_at(p.index)
                                 : graph_.at(lane_ * graph_.lane_length() + p.index - evaluations);
  u.model = model_;
  u.step = step_index{p.step};
  u.attempt = attempt;
  return u;
}

std::optional<unit> cursor::evaluation_unit(unit_position p) const {
  return p.index < evaluations_in(p.step) ? std::optional(unit_at(p, 0)) : std::nullopt;
}

unit_position cursor::position_of(const unit& u) const noexcept {
  if (u.way == direction::evaluate) {
    const auto round = u.first_micro_batch.value / evaluation_.range.round;
    return {u.step.value, round / graph_.lanes() * graph_.shape().shards + u.shard.value};
  }
  return {u.step.value, evaluations_in(u.step.value) + graph_.place_of(u.way, u.shard)};
}

unit_position cursor::position_in(std::uint32_t step, std::uint32_t training_unit, bool evaluated) const noexcept {
  const bool after = evaluated || training_unit > 0;
  return {step, training_unit + (after ? evaluations_in(step) : 0)};
}

std::uint32_t cursor::training_unit(unit_position p) const noexcept {
  const auto evaluations = evaluations_in(p.step);
  return p.index > evaluations ? p.index - evaluations : 0;
}

// -- times ------------------------------------------------------------------------------------------------------------

const cursor::unit_class& cursor::class_of(direction way, std::uint32_t shard) const {
  const auto& all = way == direction::forward ? forward_ : way == direction::backward ? backward_ : evaluate_;
  return all[shard];
}

cursor::unit_class& cursor::class_of(direction way, std::uint32_t shard) {
  return const_cast<unit_class&>(std::as_const(*this).class_of(way, shard));
}

void cursor::set_time(direction way, std::uint32_t shard, duration planned) {
  class_of(way, shard).time = planned;
}

void cursor::measured(const unit& u, duration at_speed_one) {
  auto& c = class_of(u.way, u.shard.value);
  const auto seen = u.way == direction::evaluate ? at_speed_one / u.micro_batches : at_speed_one;
  c.time = c.seen ? c.time + (seen - c.time) / 4 : seen;
  c.seen = true;
}

duration cursor::time_of(unit_position p) const {
  const auto u = unit_at(p, 0);
  return class_of(u.way, u.shard.value).time * (u.way == direction::evaluate ? u.micro_batches : 1);
}

std::uint32_t cursor::evaluations_after(std::uint32_t step) const noexcept {
  if (evaluation_.range.micro_batches == 0 || step >= steps_) {
    return 0;
  }
  const auto every = evaluation_.every;
  const auto regular = every > 0 ? steps_ / every - step / every : 0;
  return regular + (every == 0 || steps_ % every != 0 ? 1 : 0);
}

std::uint32_t cursor::evaluated_micro_batches() const noexcept {
  const auto& range = evaluation_.range;
  const auto full = rounds() * range.round;
  const bool has_last = rounds() > 0 && (range.rounds() - 1) % graph_.lanes() == lane_;
  return has_last ? full - (range.rounds() * range.round - range.micro_batches) : full;
}

duration cursor::evaluation_left(std::uint32_t index) const {
  const auto present = evaluation_at(index);
  const auto all = evaluated_micro_batches();
  const auto done = std::min((index / graph_.shape().shards + 1) * evaluation_.range.round, all);
  duration left{};
  for (std::uint32_t s = 0; s < graph_.shape().shards; ++s) {
    left += evaluate_[s].time * (s >= present.shard.value ? present.micro_batches : 0);
    left += evaluate_[s].time * (all - done);
  }
  return left;
}

duration cursor::remaining(unit_position p) const {
  const auto evaluations = evaluations_in(p.step);
  duration left = p.index < evaluations ? evaluation_left(p.index) : duration{};
  for (auto i = std::max(p.index, evaluations); i < units_in(p.step); ++i) {
    left += time_of({p.step, i});
  }
  duration step{};
  for (std::uint32_t i = 0; i < units_per_step(); ++i) {
    step += class_of(graph_.way_at(i), graph_.shard_at(i)).time;
  }
  duration evaluation{};
  for (const auto& c : evaluate_) {
    evaluation += c.time * evaluated_micro_batches();
  }
  const auto steps = p.step < steps_ ? steps_ - p.step - 1 : 0;
  return left + step * steps + evaluation * evaluations_after(p.step);
}

}  // namespace hydra
