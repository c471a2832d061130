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
double unit_noise(std::uint64_t seed, const loop_visit& v, const step_graph& graph) {
  return static_cast<double>(hash_of(seed, v.model, v.step, graph.of(v.what)) >> 11) * 0x1p-53;
}

}  // namespace

// -- what follows -----------------------------------------------------------------------------------------------------

/// The next unit, if its version is ready and its predecessors compute or have ended.
void loop_run::announce(std::uint32_t model, std::uint32_t at) {
  auto& m = models_[model];
  auto& lane = m.lanes[at];
  if (!m.here || lane.announced || lane.step == m.chain.steps()) {
    return;
  }
  const bool ready = !m.chain.opens_version(lane.index) || m.versions[m.chain.shard_of(lane.index)] == lane.step;
  if (!ready || (lane.index == 0 && !lane.predecessor_ended)) {
    return;
  }
  if (const auto after = device_to_follow(model, at)) {
    auto what = m.chain.unit_at(at, lane.step, lane.index);
    what.attempt = lane.attempt;
    auto u = m.chain.announcement(what);
    u.after = after;  // void if no predecessor is in flight there
    lane.announced = true;
    tracker_.unit_ready(u, clock());
  }
}

void loop_run::announce_from(std::uint32_t model, std::uint32_t lane) {
  announce(model, lane);
  if (!models_[model].chain.completes_sum(lane)) {
    announce(model, lane + 1);
  }
}

/// The sum of the wave before must be complete or in flight on the device where the predecessor in the lane is, if that
/// is in flight, too.
std::optional<device_id> loop_run::device_to_follow(std::uint32_t model, std::uint32_t at) const {
  const auto& m = models_[model];
  const auto& lane = m.lanes[at];
  if (!m.chain.continues_sum(at, lane.index)) {
    return lane.device;
  }
  if (!m.lanes[at - 1].has_started(lane.step, lane.index)) {
    return std::nullopt;
  }
  const auto next = m.chain.unit_at(at, lane.step, lane.index);
  const auto before = tracker_.flights_of(model_id{model}, at - 1);
  const auto sum = std::ranges::find_if(before, [&](const flight& f) { return adds_to_sum_of(next, f.what); });
  if (sum == before.end() || sum->device == lane.device) {
    return lane.device;
  }
  return tracker_.flights_of(model_id{model}, at).empty() ? std::optional{sum->device} : std::nullopt;
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
  const auto& chain = models_[p.next.model.value].chain;
  loop_visit v{.model = p.next.model.value, .lane = chain.graph().lane_of(p.next), .step = p.next.step.value,
               .index = chain.index_of(p.next), .what = p.next};
  const auto wanted = held_for(v);
  duration from = now_;
  auto what = missing_on(p.device, v);
  if (const auto slot = d.cache.find(wanted)) {
    v.slot = *slot;
    v.hit = true;
    ++result_.hits;
  } else {
    what.slot = true;
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
    push({.at = v.ready, .kind = loop_event_kind::copies_ended, .a = p.device.value});
  }
}

/// Besides what its slot holds. By the rules of `ended` a checkpoint is always copied, and the output of a unit that
/// ran here is always here. A real device keeps both until its cache evicts them; blocks that are not written back are
/// not evicted.
loop_run::missing loop_run::missing_on(device_id device, const loop_visit& v) const {
  const auto& chain = model_of(v).chain;
  const auto& lane = lane_of(v);
  missing what{.trained = trained_is_missing_on(device, v),
               .checkpoint = chain.reads_checkpoint(v.index),
               .boundary = v.index > 0 && lane.device != device,
               .sum = chain.continues_sum(v.lane, v.index) && sum_is_missing_on(device, v)};
  if (options_.completion == completion_rule::ended) {
    return what;
  }
  if (what.checkpoint) {
    const auto below = chain.shard_of(v.index) - 1;
    what.checkpoint = !is_there(lane.made[below], device) && !is_there(lane.read[below], device);
  }
  if (v.index > 0 && !what.boundary && lane.predecessor_written_back) {
    what.boundary = !is_there({lane.device, lane.staged}, device);
  }
  return what;
}

shard_version loop_run::held_for(const loop_visit& v) const {
  if (const auto& base = model_of(v).chain.base_of(v.what.shard.value)) {
    return {base->model.value, base->shard.value, std::nullopt};
  }
  return {v.model, v.what.shard.value, v.step};
}

/// Besides a base they are small: they take no slot and leave the device with older blocks.
bool loop_run::trained_is_missing_on(device_id device, const loop_visit& v) const {
  const auto& d = devices_[device.value];
  const auto found = d.trained.find({v.model, v.what.shard.value});
  const bool there =
      found != d.trained.end() && found->second.version == v.step && found->second.staged >= d.cache.evicted_before();
  return has_base(v) && !there;
}

/// The sum of the wave before.
bool loop_run::sum_is_missing_on(device_id device, const loop_visit& v) const {
  const auto& made = model_of(v).lanes[v.lane - 1].sums[v.what.shard.value];
  if (options_.completion == completion_rule::ended || made.device != device) {
    return made.device != device;
  }
  const auto in_flight = tracker_.flights_of(v.what.model, v.lane - 1);
  const auto same = [&](const flight& f) { return f.what.way == v.what.way && f.what.shard == v.what.shard; };
  return std::ranges::none_of(in_flight, same) && !is_there(made, device);
}

bool loop_run::is_there(const boundary_place& place, device_id device) const {
  return place.staged > 0 && place.device == device &&
         place.staged >= devices_[device.value].cache.evicted_before();
}

void loop_run::note_boundaries(const loop_visit& v, device_id device, const missing& what) {
  const auto& chain = model_of(v).chain;
  auto& lane = lane_of(v);
  const auto& cache = devices_[device.value].cache;
  lane.device = device;
  lane.staged = cache.inserted();
  if (v.index < chain.shards()) {
    lane.made[v.index] = {device, lane.staged};
  }
  if (v.index > 0 && v.index < chain.shards()) {
    lane.read[v.index - 1] = {device, what.boundary ? cache.inserted() : cache.found()};
  }
  if (!chain.is_forward(v.index)) {
    lane.sums[v.what.shard.value] = {device, lane.staged};
  }
  if (has_base(v)) {
    devices_[device.value].trained[{v.model, v.what.shard.value}] = {v.step,
                                                                     what.trained ? cache.inserted() : cache.found()};
  }
}

duration loop_run::copy_inputs(const loop_visit& v, loop_device& d, const missing& what, duration slot_from) {
  const auto& m = model_of(v);
  const auto s = v.what.shard.value;
  auto ready = now_;
  if (what.trained) {
    ready = d.in.copy(now_, now_, m.given->h2d[s]);
  }
  if (what.slot) {
    const auto length = has_base(v) ? base_copy(*m.given, s) : m.given->h2d[s];
    ready = std::max(ready, d.in.copy(now_, slot_from, length));
  }
  if (what.checkpoint) {
    ready = std::max(ready, d.in.copy(now_, now_, m.given->activation));
  }
  if (what.boundary) {
    ready = std::max(ready, d.in.copy(now_, lane_of(v).output_home, m.given->activation));
  }
  if (what.sum) {
    ready = std::max(ready, d.in.copy(now_, m.lanes[v.lane - 1].sums_home[s], m.given->d2h_gradient[s]));
  }
  return ready;
}

void loop_run::start_if_ready(std::uint32_t device) {
  auto& d = devices_[device];
  if (!d.staged || d.computing || d.staged->ready > now_ || !lane_of(*d.staged).predecessor_ended) {
    return;
  }
  d.computing = std::exchange(d.staged, std::nullopt);
  auto& v = *d.computing;
  auto& lane = lane_of(v);
  v.begun = now_;
  push({.at = now_ + length_of(v, d), .kind = loop_event_kind::unit_ended, .a = device, .attempt = ++d.starts});
  lane.announced = lane.predecessor_ended = lane.predecessor_written_back = false;
  lane.index = model_of(v).chain.ends_step(v.index) ? 0 : v.index + 1;
  lane.step = lane.index == 0 ? v.step + 1 : v.step;
  tracker_.device_freed(device_id{device}, instance_.prefetch ? 1 : 0, v.what, clock());
  announce_from(v.model, v.lane);
}

duration loop_run::length_of(const loop_visit& v, const loop_device& d) const {
  const auto& chain = model_of(v).chain;
  auto cost = static_cast<double>(chain.cost(v.index).count());
  if (instance_.noise > 0) {
    cost *= 1 + instance_.noise * (2 * unit_noise(instance_.seed, v, chain.graph()) - 1);
  }
  return duration{std::llround(cost / d.speed)};
}

bool loop_run::is_last_reader(const loop_visit& v) const {
  const auto& m = model_of(v);
  return !m.chain.is_forward(v.index) && std::ranges::all_of(m.lanes, [&](const loop_lane& lane) {
    return lane.has_ended(v.step, v.index, m.chain.units_per_step());
  });
}

/// A version that was stepped is useless on all devices. A real device is not notified of steps elsewhere: it keeps the
/// version until it needs the memory.
void loop_run::drop_old_version(const loop_visit& v, std::uint32_t device) {
  const shard_version old{v.model, v.what.shard.value, v.step};
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
    return block_id{.model = model_id{v.model},
                    .replica = {},
                    .step = step_index{v.version.value_or(0)},
                    .kind = v.version ? block_kind::parameters : block_kind::base,
                    .shard = shard_index{v.shard},
                    .micro_batch = {}};
  };
  const block_id in = cached ? name(*cached) : block_id{};
  const block_id out = dropped ? name(*dropped) : block_id{};
  tracker_.blocks_cached(device_id{device}, {&in, cached ? 1U : 0U}, {&out, dropped ? 1U : 0U});
}

}  // namespace hydra
