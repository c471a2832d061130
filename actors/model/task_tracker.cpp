#include "actors/model/task_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace hydra {

task_tracker::task_tracker(cursor units, bool observed)
    : units_(std::move(units)), observed_(observed), versions_(units_.graph().shards()) {
  for (std::uint32_t lane = 0; lane < units_.lanes(); ++lane) {
    const auto begin = units_.begin_of(0, lane);
    lanes_.push_back({.done = begin, .next = begin});
    const auto& first = units_.graph().at(units_.graph().lane(lane).front()).what;
    micro_batches_ += first.piece.value == 0 ? first.micro_batches : 0;
  }
}

void task_tracker::begin_at(const std::vector<unit_position>& first, std::uint32_t reported,
                            std::vector<version_index> versions) {
  versions_ = std::move(versions);
  const auto step = std::ranges::min(first).step;
  bool evaluates = false;
  bool trains = false;  // a lane has gone on after the evaluation
  for (const auto& p : first) {
    lanes_.at(p.lane).done = lanes_.at(p.lane).next = p;
    trains = trains || p.step > step || p.trained() > 0;
    evaluates = evaluates || (p.step == step && p.turn == turn_kind::evaluation);
  }
  wanted_ = step;
  next_round_ = {evaluates ? step : step + 1, 0};
  acknowledged_ = reported;
  released_ = trains ? step : std::max(step, 1U) - 1;
}

void task_tracker::begin_attempts(std::uint32_t first) {
  for (auto& lane : lanes_) {
    lane.attempt = first;
  }
}

bool task_tracker::placed(const unit& u, device_id device) {
  const auto lane = std::ranges::find(lanes_, u, &lane_state::announced);
  if (lane == lanes_.end()) {
    return false;
  }
  lane->announced.reset();
  flights_.push_back({u, units_.position_of(u), device});
  lane->next = units_.next(flights_.back().at);
  return true;
}

bool task_tracker::completed(const unit& u) {
  const auto found = std::ranges::find(flights_, u, &flight::what);
  if (found == flights_.end()) {
    return false;
  }
  const auto at = found->at;
  flights_.erase(found);
  auto& lane = lanes_[at.lane];
  const auto open = std::ranges::find(flights_, at.lane, [](const flight& f) { return f.at.lane; });
  lane.done = open == flights_.end() ? lane.next : open->at;
  const bool ends_round = units_.ends_round(at);
  if (ends_round || at.step < completed_steps()) {
    batches_.erase(batch_of(u));
  }
  rounds_open_ -= ends_round ? 1 : 0;
  return true;
}

std::uint32_t task_tracker::completed_steps() const {
  auto least = units_.steps();
  for (const auto& lane : lanes_) {
    least = std::min(least, lane.done.step);
  }
  return least;
}

bool task_tracker::lost(const unit& u, std::uint32_t next_attempt) {
  auto& lane = lanes_.at(units_.position_of(u).lane);
  lane.attempt = std::max(lane.attempt, next_attempt);
  const auto found = std::ranges::find(flights_, u, &flight::what);
  const bool mine = found != flights_.end();
  if (mine) {
    lane.next = found->at;
    const auto undone = [at = found->at](const flight& f) { return f.at.lane == at.lane && f.at >= at; };
    std::erase_if(flights_, undone);
  }
  // An announcement of an older attempt is void: the scheduler has dropped it, or will refuse it when it arrives.
  if (lane.announced && lane.announced->attempt < lane.attempt) {
    lane.announced.reset();
  }
  return mine;
}

void task_tracker::version_at_home(shard_index shard, version_index version) { versions_.at(shard.value) = version; }

void task_tracker::batch_at_home(const batch_range& range) { batches_.insert(range); }

void task_tracker::acknowledged(step_index step) { acknowledged_ = std::max(acknowledged_, step.value + 1); }

void task_tracker::release_evaluation(std::uint32_t steps) noexcept { released_ = std::max(released_, steps); }

void task_tracker::stop_after(std::uint32_t steps) {
  const auto last = std::min(steps, units_.steps());
  const bool planned = units_.evaluates_after(last);
  units_.truncate(last);
  if (planned || !units_.evaluates_after(last)) {
    return;
  }
  next_round_ = {last, 0};  // it may have been passed over, because no evaluation was due there
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    for (auto* p : {&lanes_[i].done, &lanes_[i].next}) {
      *p = p->step == last ? units_.begin_of(last, i) : *p;
    }
  }
}

void task_tracker::continue_announcing() {
  given_up_ = false;
  for (auto& lane : lanes_) {
    lane.announced.reset();
  }
}

std::uint32_t task_tracker::begun_steps() const {
  std::uint32_t begun = evaluation_read_;
  for (const auto& lane : lanes_) {
    const bool announced = lane.announced && lane.announced->way != direction::evaluate;
    const bool inside = announced || lane.next.trained() > 0;
    begun = std::max(begun, lane.next.step + (inside ? 1 : 0));
  }
  return std::min(begun, units_.steps());
}

const task_tracker::flight* task_tracker::last_flight(const lane_state& lane) const {
  const auto behind = std::ranges::find(flights_ | std::views::reverse, lane.next.lane,
                                        [](const flight& f) { return f.at.lane; });
  return behind == flights_.rend() ? nullptr : &*behind;
}

std::optional<std::uint32_t> task_tracker::whole_version() const {
  const auto v = versions_.front();
  const bool whole = std::ranges::all_of(versions_, [&](version_index other) { return other == v; });
  return whole ? std::optional(v.value) : std::nullopt;
}

batch_range task_tracker::batch_of(const unit& u) const { return hydra::batch_of(u, micro_batches_); }

bool task_tracker::batch_is_home(const unit& u) const { return batches_.contains(batch_of(u)); }

/// Before the first training unit of a step that has been evaluated.
bool task_tracker::evaluation_held(const lane_state& lane) const {
  const auto& p = lane.next;
  if (p.turn == turn_kind::evaluation || p.trained() > 0 || !units_.evaluates_after(p.step)) {
    return false;
  }
  return (holds_evaluations_ && released_ < p.step) || (lanes_.size() > 1 && !evaluation_is_over(p.step));
}

/// Of the version with which the step starts.
bool task_tracker::evaluation_is_over(std::uint32_t step) const {
  return std::ranges::all_of(lanes_, [&](const lane_state& lane) {
    return lane.done >= unit_position{.step = step, .turn = turn_kind::training};
  });
}

bool task_tracker::may_announce(const lane_state& lane) const {
  if (given_up_ || lane.announced || units_.at_end(lane.next)) {
    return false;
  }
  const auto u = units_.unit_at(lane.next, 0);
  const bool gate = units_.first_of_step(lane.next) && lane.next.step > 0;
  if (!batch_is_home(u) || (gate && observed_ && acknowledged_ < lane.next.step) || evaluation_held(lane)) {
    return false;
  }
  return version_is_made(lane, u) && (!units_.first_of_step(lane.next) || others_have_come(lane)) &&
         binding_of(lane).possible;
}

/// To the step of its next unit. Those of pieces end a step at different times.
bool task_tracker::others_have_come(const lane_state& lane) const {
  return std::ranges::all_of(lanes_, [&](const lane_state& other) {
    return &other == &lane || other.done.step >= lane.next.step;
  });
}

/// By its unit in flight before this one, and by those of other lanes whose blocks it reads.
task_tracker::binding task_tracker::binding_of(const lane_state& lane) const {
  binding bound;
  const auto follow = [&](const flight& f) {
    bound.possible = bound.possible && bound.device.value_or(f.device) == f.device;
    bound.device = f.device;
  };
  if (const auto* before = last_flight(lane)) {
    follow(*before);
  }
  for (const auto& p : units_.joined(lane.next)) {
    const auto found = std::ranges::find(flights_, p, &flight::at);
    if (found != flights_.end()) {
      follow(*found);
    } else {
      bound.possible = bound.possible && p < lanes_[p.lane].done;
    }
  }
  return bound;
}

/// It is in host memory, or the unit in flight before this one makes it on the device.
bool task_tracker::version_is_made(const lane_state& lane, const unit& u) const {
  if (versions_[u.shard.value].value == u.step.value) {
    return true;
  }
  const auto* before = last_flight(lane);
  return follows_on_device_ && before && units_.makes_version_of(before->at, u);
}

std::optional<announcement> task_tracker::announce() {
  for (auto& lane : lanes_) {
    if (may_announce(lane)) {
      lane.announced = units_.unit_at(lane.next, lane.attempt);
      return announcement{.what = *lane.announced, .after = binding_of(lane).device};
    }
  }
  return std::nullopt;
}

std::optional<batch_range> task_tracker::wanted_batch() {
  if (given_up_) {
    return std::nullopt;
  }
  if (wanted_ < units_.steps() && wanted_ <= completed_steps() + 1) {
    return batch_range{.pass = pass_kind::train, .step = step_index{wanted_++}, .first = {},
                       .micro_batches = micro_batches_};
  }
  return wanted_round();
}

/// One step ahead, unless a controller may still stop the model after this step.
std::optional<batch_range> task_tracker::wanted_round() {
  const auto ahead = observed_ ? acknowledged_ : completed_steps() + 1;
  const auto& range = units_.evaluation().range;
  for (; next_round_.step <= ahead && next_round_.step <= units_.steps(); next_round_ = {next_round_.step + 1, 0}) {
    if (!units_.evaluates_after(next_round_.step) || next_round_.index == range.rounds()) {
      continue;
    }
    if (rounds_open_ == lanes_.size() + 1) {
      return std::nullopt;
    }
    ++rounds_open_;
    evaluation_read_ = next_round_.step;
    const auto first = next_round_.index++ * range.round;
    return batch_range{.pass = pass_kind::evaluation, .step = step_index{next_round_.step},
                       .first = micro_batch_index{first}, .micro_batches = range.size_of(first)};
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

step_position task_tracker::saved_position() const {
  step_position saved{.step = completed_steps(), .units = {}};
  for (const auto& lane : lanes_) {
    const bool ahead = lane.done.step > saved.step && saved.step < units_.steps();
    const auto all = static_cast<std::uint32_t>(units_.graph().lane(lane.done.lane).size());
    saved.units.push_back(ahead ? all : lane.done.trained());
  }
  return saved;
}

std::string task_tracker::describe() const {
  std::string text;
  for (const auto& lane : lanes_) {
    text += describe(lane);
  }
  return text;
}

std::string task_tracker::describe(const lane_state& lane) const {
  std::string text;
  for (const auto& f : flights_) {
    if (f.at.lane != lane.next.lane) {
      continue;
    }
    text += fmt::format("{} is on device {}\n", to_string(f.what), f.device.value);
  }
  if (lane.announced) {
    return text + fmt::format("{} is announced and not placed\n", to_string(*lane.announced));
  }
  if (units_.at_end(lane.next) || given_up_) {
    return text;
  }
  const auto next = units_.unit_at(lane.next, lane.attempt);
  return text + fmt::format("{} comes next: its batch is {}, version {} of its shard is in host memory\n",
                            to_string(next), batch_is_home(next) ? "in host memory" : "awaited",
                            versions_[next.shard.value].value);
}

bool task_tracker::finished() const {
  const auto at_end = [this](const lane_state& lane) { return units_.at_end(lane.next); };
  const auto has_last = [this](version_index v) { return v.value >= units_.steps(); };
  return completed_steps() == units_.steps() && drained() && std::ranges::all_of(lanes_, at_end) &&
         std::ranges::all_of(versions_, has_last);
}

}  // namespace hydra
