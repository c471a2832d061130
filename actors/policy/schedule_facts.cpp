// What the schedule tracker knows: flights, loads, whether it is starved.

#include "actors/policy/schedule_tracker.hpp"

#include "actors/policy/speed.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <string>

namespace hydra {

std::size_t schedule_tracker::flight_count() const noexcept {
  std::size_t n = 0;
  for (const auto& m : models_) {
    n += m == nullptr ? 0 : m->units.flights().size();
  }
  return n;
}

std::vector<flight> schedule_tracker::flights_of(model_id model) const {
  const auto* m = find(model);
  const auto all = m == nullptr ? std::span<const flight>{} : m->units.flights();
  return {all.begin(), all.end()};
}

std::span<const flight> schedule_tracker::flights_of(model_id model, std::uint32_t lane) const {
  const auto* m = find(model);
  return m == nullptr ? std::span<const flight>{} : m->units.flights(lane);
}

bool schedule_tracker::is_held(model_id model) const noexcept {
  const auto* m = find(model);
  return m != nullptr && !m->units.drained();
}

std::uint32_t schedule_tracker::credits(device_id device) const {
  const auto at = place_of(device);
  return at ? devices_[*at].credits : 0;
}

bool schedule_tracker::is_idle(std::size_t device) const {
  return device_states_[device].idle && devices_[device].staged.empty();
}

duration schedule_tracker::idle_time(device_id device, time_point since, time_point now) const {
  const auto at = place_of(device);
  return at && is_idle(*at) ? now - std::max(since, std::min(device_states_[*at].free_at, now)) : duration{};
}

bool schedule_tracker::any_for(std::size_t device) const {
  const auto offered = [&](const lane_row& lane) {
    return lane.announced && may_stage(lane, device_states_[device].device);
  };
  return std::ranges::any_of(
      models_, [&](const auto& m) { return m != nullptr && std::ranges::any_of(m->units.lanes(), offered); });
}

bool schedule_tracker::starved() const {
  if (flight_count() > 0) {
    return false;
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (devices_[d].credits > 0 && any_for(d)) {
      return true;
    }
  }
  return false;
}

namespace {

/// Of a lane without announcement: its next unit follows one of another lane that is not placed, or its step is over
/// and that of the other is not. A lane that has announced nothing yet is taken to be at its first unit, which is not
/// placed. `lanes`: of its model.
bool waits_for_lane(const model_state& lane, std::span<const model_state> lanes, const work_graph& step) {
  const auto behind = [&](const model_state& other) { return other.step && other.step < lane.step; };
  if (lane.step && std::ranges::any_of(lanes, behind)) {
    return true;
  }
  const auto is_not_placed = [&](node_index n) {
    const auto& of = lanes[step.lane_of(n)];
    const bool same_step = of.step == lane.step || !lane.step;
    return !of.step || (same_step && of.place <= step.place_in_lane(n));
  };
  const auto next = step.lane(lane.lane)[lane.place];
  return std::ranges::any_of(step.predecessors(next), is_not_placed);
}

}  // namespace

bool schedule_tracker::all_announced() const {
  const std::span all(shown_.all());
  for (auto first = all.begin(); first != all.end();) {
    const auto next = std::find_if(first, all.end(), [&](const model_state& s) { return s.model != first->model; });
    const std::span lanes(first, next);
    const auto& step = models_[first->model.value]->units.step();
    const auto waits = [&](const model_state& s) { return s.candidate || waits_for_lane(s, lanes, step); };
    if (std::ranges::none_of(lanes, &model_state::candidate) || !std::ranges::all_of(lanes, waits)) {
      return false;
    }
    first = next;
  }
  return true;
}

std::vector<device_load> schedule_tracker::loads() const {
  std::map<device_id, device_load> loads;
  for (const auto& m : models_) {
    for (const auto& f : m == nullptr ? std::span<const flight>{} : m->units.flights()) {
      const auto at = place_of(f.device);
      if (!at) {
        continue;
      }
      const auto& d = devices_[*at];
      const auto expected = time_on(device_states_[*at].speed, f.cost) + 2 * d.link.time_for(f.bytes);  // in and out
      auto& load = loads
                       .try_emplace(f.device, device_load{.device = f.device,
                                                          .computes = d.running.has_value(),
                                                          .since = f.placed})
                       .first->second;
      load.since = std::min(load.since, f.placed);
      load.longest = std::max(load.longest, expected);
    }
  }
  std::vector<device_load> all;
  std::ranges::copy(std::views::values(loads), std::back_inserter(all));
  return all;
}

namespace {

std::string describe(const lane_row& lane, std::span<const flight> flights) {
  std::string text;
  if (lane.announced) {
    text += to_string(lane.announced->what) + " is announced" +
            (lane.bound_to() ? " for device " + std::to_string(lane.bound_to()->value) : "") + "\n";
  }
  for (const auto& f : flights) {
    text += to_string(f.what) + " was placed on device " + std::to_string(f.device.value) + "\n";
  }
  return text;
}

}  // namespace

std::string schedule_tracker::describe() const {
  std::string text;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto& d = devices_[i];
    text += "device " + std::to_string(device_states_[i].device.value) + " has given " + std::to_string(d.credits) +
            " credits and computes " + (d.running ? to_string(*d.running) : "nothing") + "\n";
  }
  for (const auto& m : models_) {
    for (std::uint32_t lane = 0; m != nullptr && lane < m->units.lanes().size(); ++lane) {
      text += hydra::describe(m->units.lanes()[lane], m->units.flights(lane));
    }
  }
  return text;
}

}  // namespace hydra
