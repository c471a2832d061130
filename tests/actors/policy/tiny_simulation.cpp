#include "tests/actors/policy/tiny_simulation.hpp"

#include "tests/support/shape_graphs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace hydra::test {

tiny_simulation::tiny_simulation(std::vector<unit_times> models, const std::vector<double>& speeds,
                                 std::unique_ptr<policy> p, bool double_buffer)
    : tracker_(std::move(p)), double_buffer_(double_buffer) {
  for (const auto speed : speeds) {
    const device_id id{static_cast<std::uint32_t>(devices_.size())};
    devices_.push_back({.speed = speed, .staged = {}, .running = {}});
    tracker_.add_device(id, speed);
    tracker_.device_freed(id, 1, std::nullopt, now_);
  }
  for (auto& times : models) {
    const auto m = static_cast<std::uint32_t>(models_.size());
    const auto shards = static_cast<std::uint32_t>(times.backward.size());
    model added{
        .times = std::move(times), .chain = {}, .loaded = {}, .next = 0, .completed = 0, .newest = {}, .left = false};
    added.chain = chain_of(m, shards, added.times.steps);
    for (const auto promote : added.times.promote) {
      added.loaded.push_back(now_ + promote);
      at_time(now_ + promote, [this, m] { announce(m); });
    }
    models_.push_back(std::move(added));
    const step_shape shape{.shards = shards};
    tracker_.add_model(model_id{m}, {.shape = shape, .graphs = graphs_of_shape(shape, {})});
  }
}

duration tiny_simulation::run() {
  while (!events_.empty()) {
    now_ = events_.begin()->first;
    while (!events_.empty() && events_.begin()->first == now_) {
      events_.extract(events_.begin()).mapped()();
    }
    for (auto placed = tracker_.decide(now_); !placed.empty(); placed = tracker_.decide(now_)) {
      std::ranges::for_each(placed, [this](const placement& p) { stage(p); });
    }
  }
  return last_version_ - time_point{};
}

std::size_t tiny_simulation::units() const {
  std::size_t n = 0;
  for (const auto& m : models_) {
    n += m.chain.size();
  }
  return n;
}

/// At most one unit is announced; the first of a step waits for its predecessor's end, as all wait for their version.
void tiny_simulation::announce(std::uint32_t id) {
  auto& m = models_[id];
  if (m.next == m.chain.size() || (m.next > 0 && !m.newest)) {
    return;
  }
  const auto& u = m.chain[m.next];
  const bool follows = m.completed < m.next;
  const bool first_of_step = m.next % (2 * m.times.backward.size() - 1) == 0;
  if ((follows && first_of_step) || (uses_new_version(m, u) && m.loaded[u.shard.value] > now_)) {
    return;
  }
  duration remaining{};
  std::for_each(m.chain.begin() + static_cast<std::ptrdiff_t>(m.next), m.chain.end(),
                [&](const unit& x) { remaining += cost(x); });
  unit_ready r{.what = u, .after = follows ? m.newest : std::nullopt, .remaining = remaining, .cost = cost(u)};
  r.then_remaining = remaining - r.cost;
  if (m.next + 1 < m.chain.size()) {
    r.then_cost = cost(m.chain[m.next + 1]);
  }
  if (!tracker_.announce(r, now_)) {
    throw std::logic_error{"refused: " + to_string(u)};
  }
  m.newest.reset();
  ++m.next;
}

void tiny_simulation::stage(const placement& p) {
  auto& d = devices_[p.device.value];
  if (std::exchange(d.staged, p.next)) {
    throw std::logic_error{"staged twice: " + to_string(p.next)};
  }
  models_[p.next.model.value].newest = p.device;
  announce(p.next.model.value);
  start(p.device.value);
}

void tiny_simulation::start(std::uint32_t id) {
  auto& d = devices_[id];
  if (!d.staged || d.running) {
    return;
  }
  const auto& m = models_[d.staged->model.value];
  if (m.chain[m.completed] != *d.staged) {
    return;  // its predecessor computes elsewhere
  }
  d.running = std::exchange(d.staged, std::nullopt);
  tracker_.device_freed(device_id{id}, double_buffer_ ? 1 : 0, d.running, now_);
  const duration time{std::llround(static_cast<double>(cost(*d.running).count()) / d.speed)};
  at_time(now_ + time, [this, id] { end(id); });
}

void tiny_simulation::end(std::uint32_t id) {
  const auto u = *std::exchange(devices_[id].running, std::nullopt);
  auto& m = models_[u.model.value];
  completed_.push_back(u);
  ++m.completed;
  if (!tracker_.unit_completed(u, now_)) {
    throw std::logic_error{"unknown: " + to_string(u)};
  }
  if (u.way == direction::backward) {
    version_made(u);
  }
  announce(u.model.value);
  tracker_.device_freed(device_id{id}, double_buffer_ ? 0 : 1, std::nullopt, now_);
  if (m.completed == m.chain.size()) {
    tracker_.remove_model(u.model);
  }
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    start(d);
  }
}

void tiny_simulation::version_made(const unit& u) {
  auto& m = models_[u.model.value];
  const auto s = u.shard.value;
  const auto ready = now_ + m.times.demote[s] + m.times.update[s];
  last_version_ = std::max(last_version_, ready);
  m.loaded[s] = ready + m.times.promote[s];
  at_time(m.loaded[s], [this, id = u.model.value] { announce(id); });
}

duration tiny_simulation::cost(const unit& u) const {
  const auto& times = models_[u.model.value].times;
  return u.way == direction::forward ? times.forward[u.shard.value] : times.backward[u.shard.value];
}

bool tiny_simulation::uses_new_version(const model& m, const unit& u) const {
  return u.way == direction::forward || u.shard.value + 1 == m.times.backward.size();
}

}  // namespace hydra::test
