#include "actors/policy/schedule_tracker.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

/// `cost` is at speed 1.
duration time_on(double speed, duration cost) {
  return speed == 1 ? cost : duration{std::llround(static_cast<double>(cost.count()) / speed)};
}

}  // namespace

schedule_tracker::schedule_tracker(std::unique_ptr<policy> chosen) : policy_(std::move(chosen)) {}

// -- devices and models ----------------------------------------------------------------------------------------------

void schedule_tracker::add_device(device_id device, double speed, byte_rate link, duration latency) {
  auto at = place_of(device);
  if (!at) {
    const auto before = std::ranges::lower_bound(device_states_, device, {}, &device_state::device);
    at = static_cast<std::size_t>(before - device_states_.begin());
    device_states_.insert(before, device_state{.device = device, .free_at = {}, .running = {}, .last = {}});
    devices_.insert(devices_.begin() + static_cast<std::ptrdiff_t>(*at), device_tracker{});
  }
  device_states_[*at].speed = speed;
  devices_[*at].link = link;
  devices_[*at].latency = latency;
}

void schedule_tracker::add_model(model_id model, const model_traits& traits) {
  if (model.value >= models_.size()) {
    models_.resize(model.value + 1);
    traits_.resize(model.value + 1);
  }
  traits_[model.value] = traits;
  if (models_[model.value] == nullptr) {
    models_[model.value] = std::make_unique<model_tracker>();
  }
  refresh(model);
}

void schedule_tracker::remove_model(model_id model) {
  if (auto* m = find(model); m != nullptr && !m->left()) {
    announced_ -= m->announced() ? 1 : 0;
    m->leave();
    policy_->model_left(model);
    residency_.forget(model);
    refresh(model);
  }
}

// -- events ----------------------------------------------------------------------------------------------------------

bool schedule_tracker::unit_ready(const ready_unit& u, time_point now) {
  auto* m = find(u.next.model);
  if (m == nullptr) {
    return false;
  }
  const bool before = m->announced().has_value();
  const bool accepted = m->announce(u, now);
  announced_ += accepted && !before ? 1 : 0;
  if (accepted && u.avoid && devices_.size() > 1) {
    policy_->unit_avoids(u.next.model, *u.avoid);
  }
  refresh(u.next.model);
  return accepted;
}

void schedule_tracker::device_freed(device_id device, std::uint32_t credits, const std::optional<unit>& running,
                         time_point since) {
  const auto at = place_of(device);
  if (!at) {
    return;
  }
  devices_[*at].credits += credits;
  if (devices_[*at].running != running) {
    has_computed(*at);
  }
  if (running) {
    computes(*at, *running, since);
  } else {
    device_states_[*at].free_at = since;
  }
}

void schedule_tracker::has_computed(std::size_t device) {
  auto& d = devices_[device];
  device_states_[device].idle = true;
  device_states_[device].running.reset();
  if (const auto u = std::exchange(d.running, std::nullopt)) {
    if (auto* m = find(u->model)) {
      m->computed(*u);
    }
    refresh(u->model);
  }
}

void schedule_tracker::computes(std::size_t device, const unit& u, time_point since) {
  auto& state = device_states_[device];
  devices_[device].running = u;
  state.idle = false;
  state.running = state.last = u.model;
  state.free_at = since;
  no_longer_staged(u, device);
  if (auto* m = find(u.model)) {
    m->started(u);
    const auto* f = std::as_const(*m).find(u);
    state.free_at += f == nullptr ? duration::zero() : time_on(state.speed, f->cost);
  }
  refresh(u.model);
}

void schedule_tracker::blocks_cached(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped) {
  if (place_of(device)) {
    residency_.report(device, cached, dropped);
  }
}

bool schedule_tracker::unit_completed(const unit& u, time_point now) {
  auto* m = find(u.model);
  const auto* f = m == nullptr ? nullptr : std::as_const(*m).find(u);
  if (f == nullptr) {
    return false;
  }
  if (const auto at = place_of(f->device)) {
    no_longer_staged(u, *at);
  }
  m->complete(u, now);
  refresh(u.model);
  return true;
}

losses schedule_tracker::unit_failed(const unit& u) {
  losses result;
  if (auto* m = find(u.model)) {
    announced_ -= m->announced() ? 1 : 0;
    if (auto loss = m->fail(u)) {
      result.push_back(std::move(*loss));
    }
    announced_ += m->announced() ? 1 : 0;
  }
  unstage(result);
  refresh(u.model);
  return result;
}

losses schedule_tracker::device_lost(device_id device) {
  losses result;
  const auto at = place_of(device);
  if (!at) {
    return result;
  }
  devices_.erase(devices_.begin() + static_cast<std::ptrdiff_t>(*at));
  device_states_.erase(device_states_.begin() + static_cast<std::ptrdiff_t>(*at));
  residency_.forget(device);
  policy_->device_left(device);
  for (const auto& m : models_) {
    if (m == nullptr) {
      continue;
    }
    announced_ -= m->announced() ? 1 : 0;
    if (auto loss = m->lose(device)) {
      result.push_back(std::move(*loss));
    }
    announced_ += m->announced() ? 1 : 0;
  }
  unstage(result);
  for (std::uint32_t m = 0; m < models_.size(); ++m) {
    refresh(model_id{m});
  }
  return result;
}

void schedule_tracker::unstage(const losses& all) {
  for (const auto& loss : all) {
    for (const auto& f : loss.lost) {
      if (const auto at = place_of(f.device)) {
        no_longer_staged(f.what, *at);
      }
    }
  }
}

void schedule_tracker::no_longer_staged(const unit& u, std::size_t device) {
  auto& staged = devices_[device].staged;
  const auto found = std::ranges::find(staged, u, &staged_unit::what);
  if (found != staged.end()) {
    device_states_[device].staged -= found->here;
    staged.erase(found);
  }
}

std::uint32_t schedule_tracker::attempt_of(model_id model) const {
  const auto* m = find(model);
  return m == nullptr ? 0 : m->next_attempt();
}

model_tracker* schedule_tracker::find(model_id model) noexcept {
  return model.value < models_.size() ? models_[model.value].get() : nullptr;
}

const model_tracker* schedule_tracker::find(model_id model) const noexcept {
  return model.value < models_.size() ? models_[model.value].get() : nullptr;
}

std::optional<std::size_t> schedule_tracker::place_of(device_id device) const noexcept {
  if (device.value < device_states_.size() && device_states_[device.value].device == device) {
    return device.value;  // always, until a device is lost
  }
  const auto found = std::ranges::find(device_states_, device, &device_state::device);
  return found == device_states_.end() ? std::nullopt
                                       : std::optional{static_cast<std::size_t>(found - device_states_.begin())};
}

placement schedule_tracker::place(const unit& u, std::size_t device, time_point now) {
  auto& model = *models_[u.model.value];
  const auto available = model.available_since();
  const auto f = model.place(device_states_[device].device, now);
  const auto here = time_on(device_states_[device].speed, f.cost);
  --announced_;
  --devices_[device].credits;
  devices_[device].staged.push_back({u, here});
  device_states_[device].staged += here;
  refresh(u.model);
  return {.next = u, .device = device_states_[device].device, .available = available};
}

// -- the view of policies --------------------------------------------------------------------------------------------

void schedule_tracker::refresh(model_id model) {
  const auto* m = find(model);
  if (m == nullptr) {
    return;
  }
  if (!m->left()) {
    shown_.show(state_of(model, *m));
    return;
  }
  shown_.hide(model);
  if (m->flights().empty()) {
    models_[model.value].reset();
  }
}

model_state schedule_tracker::state_of(model_id id, const model_tracker& m) const {
  model_state s{.model = id,
                .remaining = m.remaining(),
                .next_cost = m.next_cost(),
                .candidate = m.announced().has_value(),
                .at_step_boundary = m.at_step_boundary(),
                .flights = m.flights().size(),
                .running = {},
                .ended = m.ended(),
                .priority = traits_[id.value].priority,
                .deadline = traits_[id.value].deadline};
  for (const auto& f : m.flights()) {
    if (f.phase == flight_phase::computing) {
      s.running = f.device;
    }
    if (f.phase == flight_phase::staged) {
      s.staged += f.wall;
      ++s.staged_units;
    }
  }
  return s;
}

// -- facts -----------------------------------------------------------------------------------------------------------

std::size_t schedule_tracker::flight_count() const noexcept {
  std::size_t n = 0;
  for (const auto& m : models_) {
    n += m == nullptr ? 0 : m->flights().size();
  }
  return n;
}

std::vector<flight> schedule_tracker::flights_of(model_id model) const {
  const auto* m = find(model);
  return m == nullptr ? std::vector<flight>{} : m->flights();
}

std::uint32_t schedule_tracker::credits(device_id device) const {
  const auto at = place_of(device);
  return at ? devices_[*at].credits : 0;
}

void schedule_tracker::replace_policy(std::unique_ptr<policy> p) { policy_ = std::move(p); }

bool schedule_tracker::any_for(std::size_t device) const {
  return std::ranges::any_of(models_, [&](const auto& m) {
    return m != nullptr && m->announced() && may_stage(*m, device_states_[device].device);
  });
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

std::vector<device_load> schedule_tracker::loads() const {
  std::map<device_id, device_load> loads;
  for (const auto& tracker : models_) {
    for (const auto& f : tracker == nullptr ? std::vector<flight>{} : tracker->flights()) {
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

std::string schedule_tracker::describe() const {
  std::string text;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto& d = devices_[i];
    text += "device " + std::to_string(device_states_[i].device.value) + " has given " + std::to_string(d.credits) +
            " credits and computes " + (d.running ? to_string(*d.running) : "nothing") + "\n";
  }
  for (const auto& m : models_) {
    if (m == nullptr) {
      continue;
    }
    if (m->announced()) {
      text += to_string(m->announced()->next) + " is announced" +
              (m->bound_to() ? " for device " + std::to_string(m->bound_to()->value) : "") + "\n";
    }
    for (const auto& f : m->flights()) {
      text += to_string(f.what) + " was placed on device " + std::to_string(f.device.value) + "\n";
    }
  }
  return text;
}

}  // namespace hydra
