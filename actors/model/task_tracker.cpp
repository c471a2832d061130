#include "actors/model/task_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

task_tracker::task_tracker(cursor units, std::uint32_t shards, bool observed)
    : units_(std::move(units)), observed_(observed), versions_(shards) {}

void task_tracker::begin_at(const unit_position& first, std::uint32_t reported, std::vector<version_index> versions) {
  next_ = first;
  versions_ = std::move(versions);
  completed_steps_ = std::min(first.step, units_.steps());
  wanted_ = first.step;
  next_round_ = units_.evaluation_unit(first) ? unit_position{first.step, 0} : unit_position{first.step + 1, 0};
  acknowledged_ = reported;
  released_ = std::max(first.step, 1U) - 1;
}

bool task_tracker::placed(const unit& u, device_id device) {
  if (!announced_ || *announced_ != u) {
    return false;
  }
  announced_.reset();
  flights_.push_back({u, device});
  next_ = units_.next(units_.position_of(u));
  return true;
}

bool task_tracker::completed(const unit& u) {
  const auto found = std::ranges::find(flights_, u, &flight::what);
  if (found == flights_.end()) {
    return false;
  }
  flights_.erase(found);
  if (ends_step(u)) {
    completed_steps_ = u.step.value + 1;
  }
  const bool ends_round = u.way == direction::evaluate && u.shard.value + 1 == versions_.size();
  if (ends_step(u) || ends_round) {
    batches_.erase(batch_of(u));
    rounds_open_ -= ends_round ? 1 : 0;
  }
  return true;
}

bool task_tracker::lost(const unit& u, std::uint32_t next_attempt) {
  attempt_ = std::max(attempt_, next_attempt);
  const auto found = std::ranges::find(flights_, u, &flight::what);
  const bool mine = found != flights_.end();
  if (mine) {
    flights_.erase(found, flights_.end());
    next_ = units_.position_of(u);
  }
  // An announcement of an older attempt is void: the scheduler has dropped it, or will refuse it when it arrives.
  if (announced_ && announced_->attempt < attempt_) {
    announced_.reset();
  }
  return mine;
}

void task_tracker::version_at_home(shard_index shard, version_index version) { versions_.at(shard.value) = version; }

void task_tracker::batch_at_home(const batch_range& range) { batches_.insert(range); }

void task_tracker::acknowledged(step_index step) { acknowledged_ = std::max(acknowledged_, step.value + 1); }

void task_tracker::release_evaluation(std::uint32_t steps) noexcept { released_ = std::max(released_, steps); }

void task_tracker::stop_after(std::uint32_t steps) { units_.truncate(std::min(steps, units_.steps())); }

unit_position task_tracker::committed() const {
  return flights_.empty() ? next_ : units_.position_of(flights_.front().what);
}

std::optional<std::uint32_t> task_tracker::whole_version() const {
  const auto v = versions_.front();
  const bool whole = std::ranges::all_of(versions_, [&](version_index other) { return other == v; });
  return whole ? std::optional(v.value) : std::nullopt;
}

bool task_tracker::batch_is_home(const unit& u) const { return batches_.contains(batch_of(u)); }

/// Before the first training unit of a step that has been evaluated.
bool task_tracker::evaluation_held() const {
  const bool behind = next_.index > 0 && !units_.evaluation_unit(next_) && units_.training_unit(next_) == 0;
  return holds_evaluations_ && behind && released_ < next_.step;
}

bool task_tracker::may_announce() const {
  if (given_up_ || announced_ || units_.at_end(next_) || !batch_is_home(units_.unit_at(next_, 0))) {
    return false;
  }
  const bool gate = units_.first_of_step(next_) && next_.step > 0;
  if ((gate && observed_ && acknowledged_ < next_.step) || evaluation_held()) {
    return false;
  }
  return version_is_made(units_.unit_at(next_, 0));
}

/// It is in host memory, or the unit in flight before this one produces it on the device.
bool task_tracker::version_is_made(const unit& u) const {
  if (versions_[u.shard.value].value == u.step.value) {
    return true;
  }
  return steps_on_device_ && u.shard.value == 0 && !flights_.empty() && ends_step(flights_.back().what);
}

std::optional<announcement> task_tracker::announce() {
  if (!may_announce()) {
    return std::nullopt;
  }
  announced_ = units_.unit_at(next_, attempt_);
  announcement a{.what = *announced_, .after = {}};
  if (!flights_.empty()) {
    a.after = flights_.back().device;
  }
  return a;
}

std::optional<batch_range> task_tracker::wanted_batch() {
  if (given_up_) {
    return std::nullopt;
  }
  if (wanted_ < units_.steps() && wanted_ <= completed_steps_ + 1) {
    return batch_range{.pass = pass_kind::train, .step = step_index{wanted_++}, .first = {},
                       .micro_batches = units_.micro_batches()};
  }
  return wanted_round();
}

/// One step ahead, unless a controller may still stop the model after this step.
std::optional<batch_range> task_tracker::wanted_round() {
  const auto ahead = observed_ ? acknowledged_ : completed_steps_ + 1;
  while (next_round_.step <= ahead && next_round_.step <= units_.steps()) {
    if (const auto u = units_.evaluation_unit(next_round_)) {
      if (rounds_open_ == 2) {
        return std::nullopt;
      }
      ++rounds_open_;
      next_round_.index += static_cast<std::uint32_t>(versions_.size());
      return batch_of(*u);
    }
    next_round_ = {next_round_.step + 1, 0};
  }
  return std::nullopt;
}

std::uint64_t task_tracker::updates() const {
  std::uint64_t sum = 0;
  for (const auto v : versions_) {
    sum += v.value;
  }
  return sum;
}

unit_position task_tracker::saved_position() const {
  const auto p = committed();
  return {std::min(p.step, units_.steps()), units_.training_unit(p)};
}

std::string task_tracker::describe() const {
  std::string text;
  for (const auto& f : flights_) {
    text += fmt::format("{} is on device {}\n", to_string(f.what), f.device.value);
  }
  if (announced_) {
    return text + fmt::format("{} is announced and not placed\n", to_string(*announced_));
  }
  if (units_.at_end(next_) || given_up_) {
    return text;
  }
  const auto next = units_.unit_at(next_, attempt_);
  return text + fmt::format("{} comes next: its batch is {}, version {} of its shard is in host memory\n",
                            to_string(next), batch_is_home(next) ? "in host memory" : "awaited",
                            versions_[next.shard.value].value);
}

bool task_tracker::finished() const {
  return completed_steps_ == units_.steps() && flights_.empty() && units_.at_end(next_) &&
         std::ranges::all_of(versions_, [&](version_index v) { return v.value >= completed_steps_; });
}

}  // namespace hydra
