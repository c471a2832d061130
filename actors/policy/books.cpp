#include "actors/policy/books.hpp"

#include "runtime/fault.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

/// `cost` is at speed 1.
duration time_on(double speed, duration cost) {
  return duration{std::llround(static_cast<double>(cost.count()) / speed)};
}

block_id parameter_block(const unit& u) {
  return {.model = u.model,
          .replica = u.replica,
          .step = u.step,
          .pass = pass_kind::train,
          .kind = block_kind::parameters,
          .shard = u.shard,
          .micro_batch = {}};
}

candidate candidate_of(const ready_unit& u, time_point available) {
  return {.next = u.next,
          .remaining = u.remaining,
          .cost = u.cost,
          .parameters = u.bytes,
          .transfer = u.bytes,
          .announced = available};
}

model_state state_of(model_id id, const model_book& m) {
  return {
      .model = id, .remaining = m.remaining(), .candidate = m.announced().has_value(), .flights = m.flights().size()};
}

}  // namespace

books::books(std::unique_ptr<policy> chosen) : policy_(std::move(chosen)) {}

// -- devices and models ----------------------------------------------------------------------------------------------

void books::add_device(device_id device, double speed, byte_rate link) {
  devices_[device].speed = speed;
  devices_[device].link = link;
}

void books::add_model(model_id model) {
  models_.try_emplace(model);
  refresh(model);
}

void books::remove_model(model_id model) {
  if (auto* m = find(model); m != nullptr && !m->left()) {
    m->leave();
    policy_->model_left(model);
    refresh(model);
  }
}

// -- events ----------------------------------------------------------------------------------------------------------

bool books::unit_ready(const ready_unit& u, time_point now) {
  auto* m = find(u.next.model);
  const bool accepted = m != nullptr && m->announce(u, now);
  if (accepted && u.avoid && devices_.size() > 1) {
    policy_->unit_avoids(u.next.model, *u.avoid);
  }
  refresh(u.next.model);
  return accepted;
}

void books::device_freed(device_id device, std::uint32_t credits, const std::optional<unit>& running,
                         time_point since) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) {
    return;
  }
  auto& d = found->second;
  d.credits += credits;
  d.running = running;
  d.free_at = since;
  if (running) {
    d.last = running->model;
    const auto* m = find(running->model);
    const auto* f = m == nullptr ? nullptr : m->find(*running);
    d.free_at += f == nullptr ? duration::zero() : time_on(d.speed, f->cost);
  }
}

void books::blocks_cached(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped) {
  if (!devices_.contains(device)) {
    return;
  }
  residency_.report(device, cached, dropped);
  for (const auto& blocks : {cached, dropped}) {
    for (const auto& block : blocks) {
      refresh(block.model);
    }
  }
}

bool books::unit_completed(const unit& u, time_point now) {
  auto* m = find(u.model);
  const bool known = m != nullptr && m->complete(u, now);
  refresh(u.model);
  return known;
}

losses books::unit_failed(const unit& u) {
  losses result;
  if (auto* m = find(u.model)) {
    if (auto loss = m->fail(u)) {
      result.push_back(std::move(*loss));
    }
  }
  refresh(u.model);
  return result;
}

losses books::device_lost(device_id device) {
  losses result;
  if (devices_.erase(device) == 0) {
    return result;
  }
  residency_.forget(device);
  policy_->device_left(device);
  for (auto& [id, m] : models_) {
    if (auto loss = m.lose(device)) {
      result.push_back(std::move(*loss));
    }
  }
  for (auto m = models_.begin(); m != models_.end();) {
    refresh((m++)->first);  // may erase
  }
  return result;
}

std::uint32_t books::attempt_of(model_id model) const {
  const auto found = models_.find(model);
  return found == models_.end() ? 0 : found->second.next_attempt();
}

model_book* books::find(model_id model) {
  const auto found = models_.find(model);
  return found == models_.end() ? nullptr : &found->second;
}

// -- decisions -------------------------------------------------------------------------------------------------------

std::vector<placement> books::decide(time_point now) {
  std::vector<placement> placed;
  decide(now, placed);
  return placed;
}

void books::decide(time_point now, std::vector<placement>& placed) {
  if (ready_count() == 0 || !has_credit()) {
    return;
  }
  const auto devices = view_devices(now);
  const policy_view view{.now = now, .devices = devices, .models = model_states_};
  for (auto before = placed.size() + 1; before != placed.size();) {
    before = placed.size();
    for (const auto i : asking_order(devices)) {
      if (auto p = ask(devices[i], view)) {
        placed.push_back(*p);
      }
    }
  }
}

std::vector<device_state> books::view_devices(time_point now) const {
  std::vector<device_state> states;
  states.reserve(devices_.size());
  for (const auto& [id, d] : devices_) {
    states.push_back({.device = id,
                      .speed = d.speed,
                      .idle = !d.running,
                      .free_at = std::max(now, d.free_at),
                      .running = d.running ? d.last : std::nullopt,
                      .last = d.last});
  }
  return states;
}

std::vector<std::size_t> books::asking_order(const std::vector<device_state>& devices) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (credits(devices[i].device) > 0) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair{!devices[i].idle, -devices[i].speed}; });
  return order;
}

std::optional<placement> books::ask(const device_state& device, const policy_view& view) {
  const auto candidates = candidates_.of(device.device);
  if (candidates.empty()) {
    return std::nullopt;
  }
  ++decisions_;
  const auto choice = policy_->choose(device, candidates, view);
  if (!choice) {
    return std::nullopt;
  }
  if (*choice >= candidates.size()) {
    throw fault_error{fault_code::internal, "policy " + policy_->name() + " chose candidate " +
                                                std::to_string(*choice) + " of " + std::to_string(candidates.size())};
  }
  return place(unit{candidates[*choice].next}, device.device, view.now);
}

placement books::place(const unit& u, device_id device, time_point now) {
  auto& model = models_.at(u.model);
  const auto available = model.available_since();
  model.place(device, now);
  --devices_.at(device).credits;
  refresh(u.model);
  return {.next = u, .device = device, .available = available};
}

// -- what policies see -----------------------------------------------------------------------------------------------

void books::refresh(model_id model) {
  const auto* m = find(model);
  if (m == nullptr) {
    return;
  }
  if (const auto& u = m->announced()) {
    const candidate_list::limits who{.bound_to = m->bound_to(), .avoid = devices_.size() > 1 ? u->avoid : std::nullopt};
    candidates_.put(candidate_of(*u, m->available_since()), who, residency_.holders(parameter_block(u->next)));
  } else {
    candidates_.drop(model);
  }
  if (!m->left()) {
    show(state_of(model, *m));
    return;
  }
  hide(model);
  if (m->flights().empty()) {
    models_.erase(model);
  }
}

void books::show(const model_state& state) {
  const auto at = std::ranges::lower_bound(model_states_, state.model, {}, &model_state::model);
  if (at != model_states_.end() && at->model == state.model) {
    *at = state;
  } else {
    model_states_.insert(at, state);
  }
}

void books::hide(model_id model) {
  std::erase_if(model_states_, [model](const model_state& s) { return s.model == model; });
}

// -- facts -----------------------------------------------------------------------------------------------------------

std::size_t books::flight_count() const noexcept {
  std::size_t n = 0;
  for (const auto& [id, m] : models_) {
    n += m.flights().size();
  }
  return n;
}

std::vector<flight> books::flights_of(model_id model) const {
  const auto found = models_.find(model);
  return found == models_.end() ? std::vector<flight>{} : found->second.flights();
}

std::uint32_t books::credits(device_id device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? 0 : found->second.credits;
}

bool books::has_credit() const noexcept {
  return std::ranges::any_of(devices_, [](const auto& entry) { return entry.second.credits > 0; });
}

void books::replace_policy(std::unique_ptr<policy> p) { policy_ = std::move(p); }

bool books::starved() const {
  const auto may_work = [this](const auto& d) { return d.second.credits > 0 && candidates_.any_for(d.first); };
  return flight_count() == 0 && std::ranges::any_of(devices_, may_work);
}

std::vector<device_load> books::loads() const {
  std::map<device_id, device_load> loads;
  for (const auto& [model, book] : models_) {
    for (const auto& f : book.flights()) {
      const auto d = devices_.find(f.device);
      if (d == devices_.end()) {
        continue;
      }
      const auto expected = time_on(d->second.speed, f.cost) + 2 * d->second.link.time_for(f.bytes);  // there and back
      auto& load = loads
                       .try_emplace(f.device, device_load{.device = f.device,
                                                          .computes = d->second.running.has_value(),
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

std::string books::describe() const {
  std::string text;
  for (const auto& [id, d] : devices_) {
    text += "device " + std::to_string(id.value) + " has given " + std::to_string(d.credits) + " credits and computes " +
            (d.running ? to_string(*d.running) : "nothing") + "\n";
  }
  for (const auto& [id, m] : models_) {
    if (m.announced()) {
      text += to_string(m.announced()->next) + " is announced" +
              (m.bound_to() ? " for device " + std::to_string(m.bound_to()->value) : "") + "\n";
    }
    for (const auto& f : m.flights()) {
      text += to_string(f.what) + " was placed on device " + std::to_string(f.device.value) + "\n";
    }
  }
  return text;
}

}  // namespace hydra
