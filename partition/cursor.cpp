#include "partition/cursor.hpp"

#include <numeric>

namespace hydra {

cursor::cursor(model_id model, std::uint32_t shards, std::uint32_t steps, std::uint32_t micro_batches)
    : model_(model),
      shards_(shards),
      steps_(steps),
      micro_batches_(micro_batches),
      times_(2 * shards - 1),
      seen_(2 * shards - 1, false) {}

unit_position cursor::next(unit_position p) const noexcept {
  return last_of_step(p) ? unit_position{p.step + 1, 0} : unit_position{p.step, p.index + 1};
}

std::optional<unit_position> cursor::previous(unit_position p) const noexcept {
  if (p.index > 0) {
    return unit_position{p.step, p.index - 1};
  }
  if (p.step == 0) {
    return std::nullopt;
  }
  return unit_position{p.step - 1, units_per_step() - 1};
}

unit cursor::unit_at(unit_position p, std::uint32_t attempt) const {
  unit u;
  u.model = model_;
  u.step = step_index{p.step};
  u.micro_batches = micro_batches_;
  u.attempt = attempt;
  const bool forward = p.index + 1 < shards_;
  u.way = forward ? direction::forward : direction::backward;
  u.shard = shard_index{forward ? p.index : 2 * shards_ - 2 - p.index};
  return u;
}

unit_position cursor::position_of(const unit& u) const noexcept {
  const std::uint32_t s = u.shard.value;
  return {u.step.value, u.way == direction::forward ? s : 2 * shards_ - 2 - s};
}

void cursor::set_time(direction way, std::uint32_t shard, duration planned) {
  unit u;
  u.way = way;
  u.shard = shard_index{shard};
  times_[position_of(u).index] = planned;
  step_time_ = std::accumulate(times_.begin(), times_.end(), duration{});
}

void cursor::measured(const unit& u, duration at_speed_one) {
  const auto i = position_of(u).index;
  const duration before = times_[i];
  times_[i] = seen_[i] ? before + (at_speed_one - before) / 4 : at_speed_one;
  seen_[i] = true;
  step_time_ += times_[i] - before;
}

duration cursor::time_of(unit_position p) const { return times_[class_of(p)]; }

duration cursor::remaining(unit_position p) const {
  if (at_end(p)) {
    return {};
  }
  const duration present = std::accumulate(times_.begin() + p.index, times_.end(), duration{});
  return step_time_ * (steps_ - p.step - 1) + present;
}

}  // namespace hydra
