#include "actors/simulation/loop_run.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/hash.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

// From a decision to a unit that computes: cache slots, copies in, starts.

namespace hydra {

namespace {

/// Uniform in [0, 1), derived from the name of a unit: independent of the order of events.
double unit_noise(std::uint64_t seed, const loop_visit& v) {
  return static_cast<double>(hash_of(seed, v.model, v.step, v.index) >> 11) * 0x1p-53;
}

}  // namespace

// -- what follows --------------------------------------------------------------------------------------------------------

/// The next unit, if its version is ready and its predecessor computes or has ended.
void loop_run::announce(std::uint32_t model) {
  auto& m = models_[model];
  if (!m.here || m.announced || m.step == m.chain.steps()) {
    return;
  }
  const bool ready = !m.chain.opens_version(m.index) || m.versions[m.chain.shard_of(m.index)] == m.step;
  if (!ready || (m.index == 0 && !m.predecessor_ended)) {
    return;
  }
  auto u = m.chain.announcement(m.step, m.index, m.attempt);
  u.after = m.device;  // void if no unit of the model is in flight there
  m.announced = true;
  tracker_.unit_ready(u, clock());
}

void loop_run::decide() {
  try {
    tracker_.decide(clock(), on_placed_);
  } catch (...) {
    replace_policy("fails: " + to_fault(std::current_exception()).text);
    tracker_.decide(clock(), on_placed_);
  }
}

void loop_run::replace_policy(const std::string& reason) {
  result_.replacements.push_back("policy " + tracker_.chosen().name() + " was replaced by sharded-lrtf: it " + reason);
  tracker_.replace_policy(std::make_unique<sharded_lrtf>());
}

void loop_run::stage(const placement& p) {
  auto& d = devices_[p.device.value];
  auto& m = models_[p.next.model.value];
  const shard_version wanted{p.next.model.value, p.next.shard.value, p.next.step.value};
  loop_visit v{.model = p.next.model.value, .step = m.step, .index = m.index, .what = p.next};
  duration from = now_;
  auto what = missing_on(p.device, v);
  if (const auto slot = d.cache.find(wanted)) {
    v.slot = *slot;
    v.hit = true;
    ++result_.hits;
  } else {
    what.parameters = true;
    const auto given = d.cache.give(wanted, now_);
    v.slot = given.slot;
    from = given.from;
    ++result_.loads;
    report_cache(p.device.value, wanted, given.evicted);
  }
  d.cache.pin(v.slot, v.hit);
  v.ready = copy_inputs(v, d, what, from);
  note_boundaries(v, p.device, what);
  d.staged = v;
  start_if_ready(p.device.value);
  if (d.staged && v.ready > now_) {
    push(v.ready, loop_event_kind::copies_ended, p.device.value);
  }
}

/// Besides its parameters. By the rules of `ended` a checkpoint is always copied, and the output of a unit that ran
/// here is always here. A real device keeps both until its cache evicts them; blocks that are not written back are not
/// evicted.
loop_run::missing loop_run::missing_on(device_id device, const loop_visit& v) const {
  const auto& m = models_[v.model];
  missing what{.checkpoint = m.chain.reads_checkpoint(v.index), .boundary = v.index > 0 && m.device != device};
  if (options_.completion == completion_rule::ended) {
    return what;
  }
  if (what.checkpoint) {
    const auto below = m.chain.shard_of(v.index) - 1;
    what.checkpoint = !is_there(m.made[below], device) && !is_there(m.read[below], device);
  }
  if (v.index > 0 && !what.boundary && m.predecessor_written_back) {
    what.boundary = !is_there({m.device, m.staged}, device);
  }
  return what;
}

bool loop_run::is_there(const boundary_place& place, device_id device) const {
  return place.staged > 0 && place.device == device &&
         place.staged >= devices_[device.value].cache.evicted_before();
}

void loop_run::note_boundaries(const loop_visit& v, device_id device, const missing& what) {
  auto& m = models_[v.model];
  const auto& cache = devices_[device.value].cache;
  m.device = device;
  m.staged = cache.inserted();
  if (v.index < m.chain.shards()) {
    m.made[v.index] = {device, m.staged};
  }
  if (v.index > 0 && v.index < m.chain.shards()) {
    m.read[v.index - 1] = {device, what.boundary ? cache.inserted() : cache.found()};
  }
}

duration loop_run::copy_inputs(const loop_visit& v, loop_device& d, const missing& what, duration slot_from) {
  const auto& m = models_[v.model];
  auto ready = now_;
  if (what.parameters) {
    ready = d.in.copy(now_, slot_from, m.given->h2d[m.chain.shard_of(v.index)]);
  }
  if (what.checkpoint) {
    ready = std::max(ready, d.in.copy(now_, now_, m.given->activation));
  }
  if (what.boundary) {
    ready = std::max(ready, d.in.copy(now_, m.output_home, m.given->activation));
  }
  return ready;
}

void loop_run::start_if_ready(std::uint32_t device) {
  auto& d = devices_[device];
  if (!d.staged || d.computing || d.staged->ready > now_ || !models_[d.staged->model].predecessor_ended) {
    return;
  }
  d.computing = std::exchange(d.staged, std::nullopt);
  auto& v = *d.computing;
  auto& m = models_[v.model];
  v.begun = now_;
  push(now_ + length_of(v, d), loop_event_kind::unit_ended, device);
  m.announced = m.predecessor_ended = m.predecessor_written_back = false;
  m.index = m.chain.ends_step(v.index) ? 0 : v.index + 1;
  m.step = m.index == 0 ? v.step + 1 : v.step;
  tracker_.device_freed(device_id{device}, instance_.prefetch ? 1 : 0, v.what, clock());
  announce(v.model);
}

duration loop_run::length_of(const loop_visit& v, const loop_device& d) const {
  auto cost = static_cast<double>(models_[v.model].chain.cost(v.index).count());
  if (instance_.noise > 0) {
    cost *= 1 + instance_.noise * (2 * unit_noise(instance_.seed, v) - 1);
  }
  return duration{std::llround(cost / d.speed)};
}

/// A version that was stepped is useless on all devices. A real device is not notified of steps elsewhere: it keeps the
/// version until it needs the memory.
void loop_run::drop_old_version(const loop_visit& v, std::uint32_t device) {
  const shard_version old{v.model, models_[v.model].chain.shard_of(v.index), v.step};
  report_cache(device, std::nullopt, old);  // its slot is stale already
  if (options_.completion == completion_rule::written_back) {
    return;
  }
  for (std::uint32_t other = 0; other < devices_.size(); ++other) {
    if (const auto slot = devices_[other].cache.find(old)) {
      devices_[other].cache.stale(*slot);
      report_cache(other, std::nullopt, old);
    }
  }
}

void loop_run::report_cache(std::uint32_t device, const std::optional<shard_version>& cached,
                              const std::optional<shard_version>& dropped) {
  const auto name = [](const shard_version& v) {
    return block_id{.model = model_id{v.model}, .replica = {}, .step = step_index{v.version},
                    .shard = shard_index{v.shard}, .micro_batch = {}};
  };
  const block_id in = cached ? name(*cached) : block_id{};
  const block_id out = dropped ? name(*dropped) : block_id{};
  tracker_.blocks_cached(device_id{device}, {&in, cached ? 1U : 0U}, {&out, dropped ? 1U : 0U});
}

}  // namespace hydra
