#include "actors/policy/schedule_tracker.hpp"

#include "actors/policy/speed.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

/// The first unit of a lane that follows a unit of a wave before, in the same step.
unit first_after(const unit& before, std::uint32_t lane, const step_graph& graph) {
  const auto loss_and_backward = graph.shape().shards - 1;
  const auto place = std::max(graph.place_of(before.way, before.shard), loss_and_backward);
  auto u = graph.at(lane * graph.lane_length() + place);
  u.model = before.model;
  u.step = before.step;
  return u;
}

}  // namespace

schedule_tracker::model_record::model_record(const model_traits& given) : traits(given), graph(given.shape) {
  lanes.reserve(graph.lanes());
  for (std::uint32_t lane = 0; lane < graph.lanes(); ++lane) {
    lanes.emplace_back(lane % given.shape.waves > 0 ? &lanes.back() : nullptr);
  }
}

schedule_tracker::schedule_tracker(std::unique_ptr<policy> chosen) : policy_(std::move(chosen)) {}

void schedule_tracker::replace_policy(std::unique_ptr<policy> p) { policy_ = std::move(p); }

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
  }
  auto& m = models_[model.value];
  if (m == nullptr || m->left) {  // it may have been paused
    m = std::make_unique<model_record>(traits);
  }
  m->traits = traits;
  refresh(model);
}

void schedule_tracker::remove_model(model_id model) {
  if (auto* m = find(model); m != nullptr && !m->left) {
    for (auto& lane : m->lanes) {
      announced_ -= lane.announced() ? 1 : 0;
      lane.leave();
    }
    m->left = true;
    policy_->model_left(model);
    residency_.forget(model);
    refresh(model);
  }
}

// -- events ----------------------------------------------------------------------------------------------------------

bool schedule_tracker::unit_ready(const ready_unit& u, time_point now) {
  auto* lane = lane_of(u.next);
  if (lane == nullptr) {
    return false;
  }
  const bool before = lane->announced().has_value();
  const bool accepted = lane->announce(u, now);
  announced_ += accepted && !before ? 1 : 0;
  if (accepted && !u.avoid.empty() && devices_.size() > 1) {
    policy_->unit_avoids(u.next.model, u.avoid.back());
  }
  refresh(u.next);
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
    if (auto* lane = lane_of(*u)) {
      lane->computed(*u);
    }
    refresh(*u);
  }
}

void schedule_tracker::computes(std::size_t device, const unit& u, time_point since) {
  auto& state = device_states_[device];
  devices_[device].running = u;
  state.idle = false;
  state.running = state.last = u.model;
  state.free_at = since;
  no_longer_staged(u, device);
  if (auto* lane = lane_of(u)) {
    lane->started(u);
    const auto* f = std::as_const(*lane).find(u);
    state.free_at += f == nullptr ? duration::zero() : time_on(state.speed, f->cost);
  }
  refresh(u);
}

void schedule_tracker::blocks_cached(device_id device, std::span<const block_id> cached,
                                     std::span<const block_id> dropped) {
  if (place_of(device)) {
    residency_.report(device, cached, dropped);
  }
}

bool schedule_tracker::unit_completed(const unit& u, time_point now) {
  auto* lane = lane_of(u);
  const auto* f = lane == nullptr ? nullptr : std::as_const(*lane).find(u);
  if (f == nullptr) {
    return false;
  }
  if (const auto at = place_of(f->device)) {
    no_longer_staged(u, *at);
  }
  lane->complete(u, now);
  if (u.wave.value + 1 < find(u.model)->graph.shape().waves) {
    std::next(lane)->release_if_unbound(now);
  }
  refresh(u);
  return true;
}

template <class Undo>
std::optional<model_loss> schedule_tracker::lose(lane_tracker& lane, const Undo& undo) {
  announced_ -= lane.announced() ? 1 : 0;
  std::optional<model_loss> loss = undo(lane);
  announced_ += lane.announced() ? 1 : 0;
  return loss;
}

losses schedule_tracker::unit_failed(const unit& u) {
  losses result;
  auto* m = find(u.model);
  const auto at = m == nullptr ? 0 : m->graph.lane_of(u);
  auto failed = m == nullptr ? std::nullopt : lose(m->lanes.at(at), [&](lane_tracker& lane) { return lane.fail(u); });
  if (!failed) {
    return result;
  }
  result.push_back(std::move(*failed));
  const auto later = u.way == direction::evaluate ? 0 : m->graph.shape().waves - 1 - u.wave.value;
  for (auto i = at + 1; i <= at + later; ++i) {
    const auto first = first_after(u, i, m->graph);
    result.push_back(*lose(m->lanes[i], [&](lane_tracker& lane) { return lane.follow(first); }));
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
    if (m != nullptr) {
      lose_flights(*m, device, result);
    }
  }
  unstage(result);
  for (std::uint32_t m = 0; m < models_.size(); ++m) {
    refresh(model_id{m});
  }
  return result;
}

void schedule_tracker::lose_flights(model_record& m, device_id device, losses& all) {
  std::optional<unit> lost;  // in a wave before
  for (std::uint32_t i = 0; i < m.lanes.size(); ++i) {
    lost = i % m.graph.shape().waves == 0 ? std::nullopt : lost;
    const auto first = lost ? std::optional{first_after(*lost, i, m.graph)} : std::nullopt;
    if (auto loss = lose(m.lanes[i], [&](lane_tracker& lane) { return lane.lose(device, first); })) {
      lost = loss->first.way == direction::evaluate ? lost : loss->first;
      all.push_back(std::move(*loss));
    }
  }
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

schedule_tracker::model_record* schedule_tracker::find(model_id model) noexcept {
  return model.value < models_.size() ? models_[model.value].get() : nullptr;
}

const schedule_tracker::model_record* schedule_tracker::find(model_id model) const noexcept {
  return model.value < models_.size() ? models_[model.value].get() : nullptr;
}

lane_tracker* schedule_tracker::lane_of(const unit& u) noexcept {
  auto* m = find(u.model);
  return m == nullptr ? nullptr : &m->lanes.at(m->graph.lane_of(u));
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
  auto& lane = *lane_of(u);
  const auto available = lane.available_since();
  const auto f = lane.place(device_states_[device].device, now);
  const auto here = time_on(device_states_[device].speed, f.cost);
  --announced_;
  --devices_[device].credits;
  devices_[device].staged.push_back({u, here});
  device_states_[device].staged += here;
  refresh(u);
  return {.next = u, .device = device_states_[device].device, .available = available};
}

// -- the view of policies --------------------------------------------------------------------------------------------

void schedule_tracker::refresh(const unit& u) {
  const auto* m = find(u.model);
  if (m == nullptr) {
    return;
  }
  if (m->left) {
    remove_if_drained(u.model);
  } else {
    show(u.model, *m, m->graph.lane_of(u));
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
  for (std::uint32_t lane = 0; lane < m->lanes.size(); ++lane) {
    show(model, *m, lane);
  }
}

void schedule_tracker::remove_if_drained(model_id model) {
  auto& m = models_[model.value];
  if (std::ranges::all_of(m->lanes, [](const lane_tracker& lane) { return lane.flights().empty(); })) {
    m.reset();
  }
}

namespace {

void show_position(model_state& s, const lane_tracker::frontier& reached, const step_graph& graph) {
  s.step = reached.what.step;
  if (reached.what.way == direction::evaluate) {
    return;
  }
  s.place = graph.place_of(reached.what.way, reached.what.shard) + (reached.placed ? 1 : 0);
  if (s.place == graph.lane_length()) {
    s.step->value += 1;
    s.place = 0;
  }
}

}  // namespace

void schedule_tracker::show(model_id id, const model_record& m, std::uint32_t at) {
  const auto& lane = m.lanes[at];
  model_state s{.model = id,
                .lane = at,
                .shape = m.traits.shape,
                .remaining = lane.remaining(),
                .next_cost = lane.next_cost(),
                .candidate = lane.announced().has_value(),
                .at_step_boundary = lane.at_step_boundary(),
                .flights = lane.flights().size(),
                .running = {},
                .ended = lane.ended(),
                .priority = m.traits.priority,
                .deadline = m.traits.deadline};
  if (const auto& reached = lane.reached()) {
    show_position(s, *reached, m.graph);
  }
  for (const auto& f : lane.flights()) {
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
