#include "actors/policy/schedule_tracker.hpp"

#include "actors/policy/speed.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

schedule_tracker::schedule_tracker(std::unique_ptr<policy> chosen) : policy_(std::move(chosen)) {}

void schedule_tracker::replace_policy(std::unique_ptr<policy> p) { policy_ = std::move(p); }

// -- devices and models ----------------------------------------------------------------------------------------------

void schedule_tracker::add_device(device_id device, double speed, byte_rate link, duration latency) {
  auto at = place_of(device);
  if (!at) {
    const auto before = std::ranges::lower_bound(device_states_, device, {}, &device_state::device);
    at = static_cast<std::size_t>(before - device_states_.begin());
    device_states_.insert(before,
                          device_state{.device = device, .free_at = {}, .running = {}, .last = {}, .has_slot = false});
    devices_.insert(devices_.begin() + static_cast<std::ptrdiff_t>(*at), device_tracker{});
  }
  device_states_[*at].speed = speed;
  devices_[*at].link = link;
  devices_[*at].latency = latency;
}

void schedule_tracker::add_model(model_id model, const model_traits& traits) {
  if (model.value >= models_.size()) {
    models_.resize(model.value + 1);
  }
  auto& m = models_[model.value];
  if (m == nullptr || m->left) {  // it may have been paused
    m = std::make_unique<model_record>(model_record{traits, flight_table{traits.graphs}});
  }
  m->traits = traits;
  refresh(model);
}

void schedule_tracker::remove_model(model_id model) {
  if (auto* m = find(model); m != nullptr && !m->left) {
    announced_ -= m->units.announced();
    m->units.leave();
    m->left = true;
    policy_->model_left(model);
    residency_.forget(model);
    refresh(model);
  }
}

// -- events ----------------------------------------------------------------------------------------------------------

bool schedule_tracker::announce(const unit_ready& u, time_point now) {
  auto* m = find(u.what.model);
  if (m == nullptr || m->left) {
    return false;
  }
  const auto lane = m->units.lane_of(u.what);
  const bool before = m->units.lanes()[lane].announced.has_value();
  const bool accepted = m->units.announce(u, now);
  announced_ += accepted && !before ? 1 : 0;
  if (accepted && !u.avoid.empty() && devices_.size() > 1) {
    policy_->unit_avoids(u.what.model, u.avoid.back());
  }
  refresh(u.what.model, lane);
  return accepted;
}

void schedule_tracker::device_freed(device_id device, std::uint32_t credits, const std::optional<unit>& running,
                         time_point since) {
  const auto at = place_of(device);
  if (!at) {
    return;
  }
  devices_[*at].credits += credits;
  devices_[*at].taken -= std::min(devices_[*at].taken, credits);
  device_states_[*at].has_slot = may_ask(*at);
  if (devices_[*at].running != running) {
    has_computed(*at);
  }
  if (running) {
    computes(*at, *running, since);
  } else {
    device_states_[*at].free_at = since;
  }
  // Some have started and ended before the device could say so, unless one has failed.
  while (!running && devices_[*at].staged.size() > devices_[*at].taken) {
    no_longer_staged(devices_[*at].staged.front().what, *at);
  }
}

void schedule_tracker::has_computed(std::size_t device) {
  auto& d = devices_[device];
  device_states_[device].idle = true;
  device_states_[device].running.reset();
  const auto u = std::exchange(d.running, std::nullopt);
  auto* m = u ? find(u->model) : nullptr;
  if (const auto* f = m == nullptr ? nullptr : m->units.computed(*u)) {
    refresh(u->model, f->lane);
  }
}

void schedule_tracker::computes(std::size_t device, const unit& u, time_point since) {
  auto& state = device_states_[device];
  devices_[device].running = u;
  state.idle = false;
  state.running = u.model;
  state.free_at = since;
  begins(u, device);
  auto* m = find(u.model);
  if (const auto* f = m == nullptr ? nullptr : m->units.started(u)) {
    state.free_at += time_on(state.speed, f->cost);
    refresh(u.model, f->lane);
  }
}

void schedule_tracker::blocks_cached(device_id device, std::span<const block_id> cached,
                                     std::span<const block_id> dropped) {
  if (place_of(device)) {
    residency_.report(device, cached, dropped);
  }
}

bool schedule_tracker::unit_completed(const unit& u, time_point now) {
  auto* m = find(u.model);
  const auto f = m == nullptr ? std::nullopt : m->units.complete(u, now);
  if (f) {
    if (const auto at = place_of(f->device)) {
      no_longer_staged(u, *at);
    }
    refresh(u.model, f->lane);
  }
  remove_if_drained(u.model);
  return f.has_value();
}

losses schedule_tracker::unit_failed(const unit& u) {
  auto* m = find(u.model);
  if (m == nullptr) {
    return {};
  }
  announced_ -= m->units.announced();
  auto result = m->units.fail(u);
  announced_ += m->units.announced();
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
    if (m != nullptr) {
      announced_ -= m->units.announced();
      std::ranges::move(m->units.lose(device), std::back_inserter(result));
      announced_ += m->units.announced();
    }
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

/// Units compute in the order in which they were staged: those before it have ended, or failed.
void schedule_tracker::begins(const unit& u, std::size_t device) {
  auto& staged = devices_[device].staged;
  while (std::ranges::count(staged, u, &staged_unit::what) > 0) {
    no_longer_staged(unit{staged.front().what}, device);
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

schedule_tracker::model_record* schedule_tracker::find(model_id model) noexcept {
  return model.value < models_.size() ? models_[model.value].get() : nullptr;
}

const schedule_tracker::model_record* schedule_tracker::find(model_id model) const noexcept {
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

placement schedule_tracker::place(model_id model, std::uint32_t lane, std::size_t device, time_point now) {
  auto& units = find(model)->units;
  const auto available = units.lanes()[lane].available;
  const auto f = units.place(lane, device_states_[device].device, now);
  const auto here = time_on(device_states_[device].speed, f.cost);
  const bool waited = is_idle(device);
  --announced_;
  --devices_[device].credits;
  ++devices_[device].taken;
  device_states_[device].has_slot = may_ask(device);
  devices_[device].staged.push_back({f.what, here});
  device_states_[device].staged += here;
  device_states_[device].last = model;
  refresh(model, lane);
  return {.next = f.what, .device = f.device, .available = available, .waited = waited};
}

// -- the view of policies --------------------------------------------------------------------------------------------

void schedule_tracker::refresh(model_id model, std::uint32_t lane) {
  if (const auto* m = find(model); m != nullptr && !m->left) {
    show(model, *m, lane);
  }
}

void schedule_tracker::refresh(model_id model) {
  const auto* m = find(model);
  if (m == nullptr) {
    return;
  }
  if (m->left) {
    shown_.hide(model);
    remove_if_drained(model);
    return;
  }
  for (std::uint32_t lane = 0; lane < m->units.lanes().size(); ++lane) {
    show(model, *m, lane);
  }
}

void schedule_tracker::remove_if_drained(model_id model) {
  if (const auto* m = find(model); m != nullptr && m->left && m->units.drained()) {
    models_[model.value].reset();
  }
}

namespace {

void show_position(model_state& s, const lane_row::frontier& reached, const work_graph& step) {
  s.step = reached.at.step;
  if (!reached.at.trains) {
    return;
  }
  s.place = step.place_in_lane(reached.at.node) + (reached.placed ? 1 : 0);
  if (s.place == step.lane(s.lane).size()) {
    s.step->value += 1;
    s.place = 0;
  }
}

}  // namespace

void schedule_tracker::show(model_id id, const model_record& m, std::uint32_t at) {
  const auto& lane = m.units.lanes()[at];
  const auto flights = m.units.flights(at);
  model_state s{.model = id,
                .lane = at,
                .shape = m.traits.shape,
                .remaining = lane.remaining,
                .next_cost = lane.next_cost,
                .candidate = lane.announced.has_value(),
                .at_step_boundary = lane.begins_step && !lane.announced && !m.traits.shares_steps,
                .flights = flights.size(),
                .running = {},
                .ended = lane.ended,
                .priority = m.traits.priority,
                .deadline = m.traits.deadline};
  if (lane.reached) {
    show_position(s, *lane.reached, m.units.step());
  }
  for (const auto& f : flights) {
    if (f.phase == flight_phase::computing) {
      s.running = f.device;
    }
    if (f.phase == flight_phase::staged) {
      s.staged += f.wall;
      ++s.staged_units;
    }
  }
  shown_.show(s);
}

}  // namespace hydra
