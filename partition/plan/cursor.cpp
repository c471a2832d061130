#include "partition/plan/cursor.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

cursor::cursor(model_id model, std::uint32_t shards, std::uint32_t steps, std::uint32_t micro_batches)
    : model_(model),
      shards_(shards),
      steps_(steps),
      micro_batches_(micro_batches),
      forward_(shards),
      backward_(shards),
      evaluate_(shards) {}

// -- the chain ------------------------------------------------------------------------------------------------------------

bool cursor::evaluates_after(std::uint32_t step) const noexcept {
  if (evaluation_.range.micro_batches == 0 || (step == 0 && steps_ > 0) || step > steps_) {
    return false;
  }
  return step == steps_ || (evaluation_.every > 0 && step % evaluation_.every == 0);
}

std::uint32_t cursor::evaluations_in(std::uint32_t step) const noexcept {
  return evaluates_after(step) ? evaluation_.range.rounds() * shards_ : 0;
}

std::uint64_t cursor::units() const noexcept {
  const std::uint64_t evaluations = steps_ == 0 && evaluates_after(0) ? 1 : evaluations_after(0);
  return std::uint64_t{steps_} * units_per_step() + evaluations * evaluation_.range.rounds() * shards_;
}

std::uint32_t cursor::units_in(std::uint32_t step) const noexcept {
  return evaluations_in(step) + (step < steps_ ? units_per_step() : 0);
}

unit_position cursor::next(unit_position p) const noexcept {
  return p.index + 1 >= units_in(p.step) ? unit_position{p.step + 1, 0} : unit_position{p.step, p.index + 1};
}

std::optional<unit_position> cursor::previous(unit_position p) const noexcept {
  if (p.index > 0) {
    return unit_position{p.step, p.index - 1};
  }
  if (p.step == 0) {
    return std::nullopt;
  }
  return unit_position{p.step - 1, units_in(p.step - 1) - 1};
}

unit cursor::evaluation_at(std::uint32_t index) const {
  unit u;
  u.way = direction::evaluate;
  u.shard = shard_index{index % shards_};
  u.first_micro_batch = micro_batch_index{index / shards_ * evaluation_.range.round};
  u.micro_batches = evaluation_.range.size_of(u.first_micro_batch.value);
  return u;
}

unit cursor::unit_at(unit_position p, std::uint32_t attempt) const {
  const auto evaluations = evaluations_in(p.step);
  unit u;
  if (p.index < evaluations) {
    u = evaluation_at(p.index);
  } else {
    const auto i = p.index - evaluations;
    const bool forward = i + 1 < shards_;
    u.way = forward ? direction::forward : direction::backward;
    u.shard = shard_index{forward ? i : 2 * shards_ - 2 - i};
    u.micro_batches = micro_batches_;
  }
  u.model = model_;
  u.step = step_index{p.step};
  u.attempt = attempt;
  return u;
}

std::optional<unit> cursor::evaluation_unit(unit_position p) const {
  return p.index < evaluations_in(p.step) ? std::optional(unit_at(p, 0)) : std::nullopt;
}

unit_position cursor::position_of(const unit& u) const noexcept {
  const auto s = u.shard.value;
  if (u.way == direction::evaluate) {
    return {u.step.value, u.first_micro_batch.value / evaluation_.range.round * shards_ + s};
  }
  return {u.step.value, evaluations_in(u.step.value) + (u.way == direction::forward ? s : 2 * shards_ - 2 - s)};
}

unit_position cursor::position_in(std::uint32_t step, std::uint32_t training_unit, bool evaluated) const noexcept {
  const bool after = evaluated || training_unit > 0;
  return {step, training_unit + (after ? evaluations_in(step) : 0)};
}

std::uint32_t cursor::training_unit(unit_position p) const noexcept {
  const auto evaluations = evaluations_in(p.step);
  return p.index > evaluations ? p.index - evaluations : 0;
}

// -- times ----------------------------------------------------------------------------------------------------------------

const cursor::unit_class& cursor::class_of(const unit& u) const {
  const auto& all = u.way == direction::forward ? forward_ : u.way == direction::backward ? backward_ : evaluate_;
  return all[u.shard.value];
}

cursor::unit_class& cursor::class_of(const unit& u) { return const_cast<unit_class&>(std::as_const(*this).class_of(u)); }

void cursor::set_time(direction way, std::uint32_t shard, duration planned) {
  unit u;
  u.way = way;
  u.shard = shard_index{shard};
  class_of(u).time = planned;
}

void cursor::measured(const unit& u, duration at_speed_one) {
  auto& c = class_of(u);
  const auto seen = u.way == direction::evaluate ? at_speed_one / u.micro_batches : at_speed_one;
  c.time = c.seen ? c.time + (seen - c.time) / 4 : seen;
  c.seen = true;
}

duration cursor::time_of(unit_position p) const {
  const auto u = unit_at(p, 0);
  return class_of(u).time * (u.way == direction::evaluate ? u.micro_batches : 1);
}

std::uint32_t cursor::evaluations_after(std::uint32_t step) const noexcept {
  if (evaluation_.range.micro_batches == 0 || step >= steps_) {
    return 0;
  }
  const auto every = evaluation_.every;
  const auto regular = every > 0 ? steps_ / every - step / every : 0;
  return regular + (every == 0 || steps_ % every != 0 ? 1 : 0);
}

duration cursor::evaluation_left(std::uint32_t index) const {
  const auto present = evaluation_at(index);
  const auto done = present.first_micro_batch.value + present.micro_batches;
  duration left{};
  for (std::uint32_t s = 0; s < shards_; ++s) {
    left += evaluate_[s].time * (s >= present.shard.value ? present.micro_batches : 0);
    left += evaluate_[s].time * (evaluation_.range.micro_batches - done);
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
  duration evaluation{};
  for (std::uint32_t s = 0; s < shards_; ++s) {
    step += backward_[s].time + (s + 1 < shards_ ? forward_[s].time : duration{});
    evaluation += evaluate_[s].time * evaluation_.range.micro_batches;
  }
  const auto steps = p.step < steps_ ? steps_ - p.step - 1 : 0;
  return left + step * steps + evaluation * evaluations_after(p.step);
}

}  // namespace hydra
