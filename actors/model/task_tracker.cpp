#include "actors/model/task_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

task_tracker::task_tracker(std::vector<cursor> lanes, bool observed)
    : observed_(observed), versions_(lanes.front().graph().shape().shards) {
  for (auto& units : lanes) {
    lanes_.push_back({.units = std::move(units)});
  }
}

void task_tracker::begin_at(const std::vector<unit_position>& first, std::uint32_t reported,
                            std::vector<version_index> versions) {
  versions_ = std::move(versions);
  const auto step = std::ranges::min(first).step;
  bool evaluates = false;
  bool trains = false;  // a lane has gone on after the evaluation
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].next = first.at(i);
    lanes_[i].completed_steps = std::min(first[i].step, units().steps());
    trains = trains || first[i].step > step || lanes_[i].units.training_unit(first[i]) > 0;
    evaluates = evaluates || (first[i].step == step && lanes_[i].units.evaluation_unit(first[i]));
  }
  completed_steps_ = std::min(step, units().steps());
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
  auto& lane = lane_of(u);
  if (!lane.announced || *lane.announced != u) {
    return false;
  }
  lane.announced.reset();
  lane.flights.push_back({u, device});
  lane.next = lane.units.next(lane.units.position_of(u));
  return true;
}

bool task_tracker::completed(const unit& u) {
  auto& lane = lane_of(u);
  const auto found = std::ranges::find(lane.flights, u, &flight::what);
  if (found == lane.flights.end()) {
    return false;
  }
  lane.flights.erase(found);
  if (ends_step(u, units().graph().shape())) {
    lane.completed_steps = u.step.value + 1;
    const auto least = std::ranges::min(lanes_, {}, &lane_state::completed_steps).completed_steps;
    if (std::exchange(completed_steps_, least) < least) {
      batches_.erase(batch_of(u));
    }
  }
  if (u.way == direction::evaluate && u.shard.value + 1 == versions_.size()) {
    batches_.erase(batch_of(u));
    --rounds_open_;
  }
  return true;
}

bool task_tracker::lost(const unit& u, std::uint32_t next_attempt) {
  auto& lane = lane_of(u);
  lane.attempt = std::max(lane.attempt, next_attempt);
  const auto found = std::ranges::find(lane.flights, u, &flight::what);
  const bool mine = found != lane.flights.end();
  if (mine) {
    lane.flights.erase(found, lane.flights.end());
    lane.next = lane.units.position_of(u);
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
  const auto last = std::min(steps, units().steps());
  const bool planned = units().evaluates_after(last);
  for (auto& lane : lanes_) {
    lane.units.truncate(last);
  }
  if (!planned && units().evaluates_after(last)) {
    next_round_ = {last, 0};  // it may have been passed over, because no evaluation was due there
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
    const bool inside = announced || lane.units.training_unit(lane.next) > 0;
    begun = std::max(begun, lane.next.step + (inside ? 1 : 0));
  }
  return std::min(begun, units().steps());
}

void task_tracker::measured(const unit& u, duration at_speed_one) {
  for (auto& lane : lanes_) {
    lane.units.measured(u, at_speed_one);
  }
}

unit_position task_tracker::committed(const lane_state& lane) {
  return lane.flights.empty() ? lane.next : lane.units.position_of(lane.flights.front().what);
}

std::vector<cursor> task_tracker::lanes() const {
  std::vector<cursor> all;
  std::ranges::transform(lanes_, std::back_inserter(all), &lane_state::units);
  return all;
}

bool task_tracker::drained() const noexcept {
  return std::ranges::all_of(lanes_, [](const lane_state& lane) { return lane.flights.empty(); });
}

std::optional<std::uint32_t> task_tracker::whole_version() const {
  const auto v = versions_.front();
  const bool whole = std::ranges::all_of(versions_, [&](version_index other) { return other == v; });
  return whole ? std::optional(v.value) : std::nullopt;
}

batch_range task_tracker::batch_of(const unit& u) const {
  return hydra::batch_of(u, units().graph().shape().micro_batches);
}

bool task_tracker::batch_is_home(const unit& u) const { return batches_.contains(batch_of(u)); }

/// Before the first training unit of a step that has been evaluated.
bool task_tracker::evaluation_held(const lane_state& lane) const {
  const auto& p = lane.next;
  if (!lane.units.evaluates_after(p.step) || lane.units.evaluation_unit(p) || lane.units.training_unit(p) > 0) {
    return false;
  }
  return (holds_evaluations_ && released_ < p.step) || (lanes_.size() > 1 && !evaluation_is_over(p.step));
}

/// Of the version with which the step starts.
bool task_tracker::evaluation_is_over(std::uint32_t step) const {
  return std::ranges::all_of(lanes_, [&](const lane_state& lane) {
    const auto p = committed(lane);
    return p.step > step || (p.step == step && !lane.units.evaluation_unit(p));
  });
}

bool task_tracker::may_announce(const lane_state& lane) const {
  if (given_up_ || lane.announced || lane.units.at_end(lane.next) || !batch_is_home(lane.units.unit_at(lane.next, 0))) {
    return false;
  }
  const bool gate = lane.units.first_of_step(lane.next) && lane.next.step > 0;
  if ((gate && observed_ && acknowledged_ < lane.next.step) || evaluation_held(lane)) {
    return false;
  }
  return version_is_made(lane, lane.units.unit_at(lane.next, 0)) && binding_of(lane).possible;
}

/// By its unit in flight before this one, and by the visit of the wave before whose gradient sum it reads.
task_tracker::binding task_tracker::binding_of(const lane_state& lane) const {
  binding bound;
  if (!lane.flights.empty()) {
    bound.device = lane.flights.back().device;
  }
  const auto u = lane.units.unit_at(lane.next, 0);
  if (!sum_before(u)) {
    return bound;
  }
  const auto& other = lanes_[units().graph().lane_of(u) - 1];
  if (other.units.position_of(u) < committed(other)) {
    return bound;
  }
  const auto found = std::ranges::find_if(other.flights, [&](const auto& f) { return adds_to_sum_of(u, f.what); });
  bound.possible = found != other.flights.end() && (!bound.device || *bound.device == found->device);
  bound.device = bound.possible ? std::optional(found->device) : std::nullopt;
  return bound;
}

/// It is in host memory, or the unit in flight before this one produces it on the device.
bool task_tracker::version_is_made(const lane_state& lane, const unit& u) const {
  if (versions_[u.shard.value].value == u.step.value) {
    return true;
  }
  return steps_on_device_ && u.shard.value == 0 && !lane.flights.empty() &&
         ends_step(lane.flights.back().what, units().graph().shape());
}

std::optional<announcement> task_tracker::announce() {
  for (auto& lane : lanes_) {
    if (may_announce(lane)) {
      lane.announced = lane.units.unit_at(lane.next, lane.attempt);
      return announcement{.what = *lane.announced, .after = binding_of(lane).device};
    }
  }
  return std::nullopt;
}

std::optional<batch_range> task_tracker::wanted_batch() {
  if (given_up_) {
    return std::nullopt;
  }
  if (wanted_ < units().steps() && wanted_ <= completed_steps_ + 1) {
    return batch_range{.pass = pass_kind::train, .step = step_index{wanted_++}, .first = {},
                       .micro_batches = units().graph().shape().micro_batches};
  }
  return wanted_round();
}

/// One step ahead, unless a controller may still stop the model after this step.
std::optional<batch_range> task_tracker::wanted_round() {
  const auto ahead = observed_ ? acknowledged_ : completed_steps_ + 1;
  const auto& range = units().evaluation().range;
  for (; next_round_.step <= ahead && next_round_.step <= units().steps(); next_round_ = {next_round_.step + 1, 0}) {
    if (!units().evaluates_after(next_round_.step) || next_round_.index == range.rounds()) {
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
  step_position saved{.step = units().steps(), .units = {}};
  for (const auto& lane : lanes_) {
    saved.step = std::min(saved.step, committed(lane).step);
  }
  for (const auto& lane : lanes_) {
    const auto p = committed(lane);
    const bool ahead = p.step > saved.step && saved.step < units().steps();
    saved.units.push_back(ahead ? lane.units.units_per_step() : lane.units.training_unit(p));
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
  for (const auto& f : lane.flights) {
    text += fmt::format("{} is on device {}\n", to_string(f.what), f.device.value);
  }
  if (lane.announced) {
    return text + fmt::format("{} is announced and not placed\n", to_string(*lane.announced));
  }
  if (lane.units.at_end(lane.next) || given_up_) {
    return text;
  }
  const auto next = lane.units.unit_at(lane.next, lane.attempt);
  return text + fmt::format("{} comes next: its batch is {}, version {} of its shard is in host memory\n",
                            to_string(next), batch_is_home(next) ? "in host memory" : "awaited",
                            versions_[next.shard.value].value);
}

bool task_tracker::finished() const {
  const auto at_end = [](const lane_state& lane) { return lane.units.at_end(lane.next); };
  return completed_steps_ == units().steps() && drained() && std::ranges::all_of(lanes_, at_end) &&
         std::ranges::all_of(versions_, [&](version_index v) { return v.value >= completed_steps_; });
}

}  // namespace hydra
