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
  return static_cast<double>(hash_of(seed, v.model, v.at.step, v.at.node.value) >> 11) * 0x1p-53;
}

}  // namespace

// -- what follows -----------------------------------------------------------------------------------------------------

/// The next unit, if its version is ready and its predecessors are staged, compute or have ended.
void loop_run::announce(std::uint32_t model, std::uint32_t at) {
  auto& m = models_[model];
  auto& lane = m.lanes[at];
  if (!m.here || lane.announced || lane.next.step == m.chain.steps()) {
    return;
  }
  const bool ready = m.versions[m.chain.shard_of(lane.next.node).value] == lane.next.step;
  const bool begins_step = m.chain.graph().lane(at).front() == lane.next.node;
  if (!ready || (begins_step && lane.ended != lane.next)) {
    return;
  }
  if (const auto after = device_to_follow(model, at)) {
    auto u = m.chain.announcement(lane.next);
    u.what.attempt = lane.attempt;
    u.after = after;  // void if no predecessor is in flight there
    lane.announced = true;
    tracker_.announce(u, clock());
  }
}

void loop_run::announce_from(std::uint32_t model, std::uint32_t lane) {
  announce(model, lane);
  const auto& graph = models_[model].chain.graph();
  for (const auto n : graph.successors(graph.lane(lane).back())) {
    announce(model, graph.lane_of(n));
  }
}

/// The sum of the wave before must be complete or in flight on the device where the predecessor in the lane is, if that
/// is in flight, too.
std::optional<device_id> loop_run::device_to_follow(std::uint32_t model, std::uint32_t at) const {
  const auto& m = models_[model];
  const auto& lane = m.lanes[at];
  const auto& sum = m.chain.at(lane.next.node).sum_before;
  if (!sum) {
    return lane.device;
  }
  const chain_position before{lane.next.step, m.chain.graph().writer(*sum).value()};
  if (m.lanes[m.chain.graph().lane_of(before.node)].next <= before) {
    return std::nullopt;
  }
  const auto* flying = find_flight(model, before);
  if (!flying || flying->device == lane.device) {
    return lane.device;
  }
  return tracker_.flights_of(model_id{model}, at).empty() ? std::optional{flying->device} : std::nullopt;
}

const flight* loop_run::find_flight(std::uint32_t model, const chain_position& p) const {
  const auto all = tracker_.flights_of(model_id{model}, models_[model].chain.graph().lane_of(p.node));
  const auto is_at = [&](const flight& f) { return f.at.step.value == p.step && f.at.node == p.node; };
  const auto found = std::ranges::find_if(all, is_at);
  return found == all.end() ? nullptr : &*found;
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
  const auto at = chain.position_of(p.next);
  loop_visit v{.model = p.next.model.value, .lane = chain.graph().lane_of(at.node), .at = at, .what = p.next};
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
  note_blocks(v, p.device, what);
  d.staged.push_back(v);
  auto& lane = lane_of(v);
  lane.announced = lane.predecessor_written_back = false;
  lane.next = chain.after(at);
  if (v.ready > now_) {
    push({.at = v.ready, .kind = loop_event_kind::copies_ended, .a = p.device.value});
  }
  start_if_ready(p.device.value);
  announce_from(v.model, v.lane);
}

/// Besides what its slot holds. By the rules of `ended` a checkpoint is copied unless the unit that leaves it has yet
/// to end here, and the output of a unit that ran here is always here. A real device keeps both until its cache evicts
/// them; blocks that are not written back are not evicted.
loop_run::missing loop_run::missing_on(device_id device, const loop_visit& v) const {
  const auto& u = unit_of(v);
  const auto& lane = lane_of(v);
  missing what{.trained = trained_is_missing_on(device, v),
               .checkpoint = u.checkpoint && is_made(v, *u.checkpoint),
               .boundary = u.boundary && lane.device != device,
               .sum = u.sum_before && sum_is_missing_on(device, v)};
  if (options_.completion == completion_rule::ended) {
    return what;
  }
  if (what.checkpoint) {
    const auto& input = model_of(v).blocks[u.checkpoint->value];
    what.checkpoint = !is_there(input.made, device) && !is_there(input.read, device);
  }
  if (u.boundary && !what.boundary && lane.predecessor_written_back) {
    what.boundary = !is_there({lane.device, lane.staged}, device);
  }
  return what;
}

/// A unit of its own lane makes it.
bool loop_run::is_made(const loop_visit& v, block_index b) const {
  return lane_of(v).ended > chain_position{v.at.step, model_of(v).chain.graph().writer(b).value()};
}

shard_version loop_run::held_for(const loop_visit& v) const {
  if (const auto& base = unit_of(v).base) {
    const auto& name = model_of(v).chain.graph().block(*base).id;
    return {name.model.value, name.shard.value, std::nullopt};
  }
  return {v.model, v.what.shard.value, v.at.step};
}

/// Besides a base they are small: they take no slot and leave the device with older blocks.
bool loop_run::trained_is_missing_on(device_id device, const loop_visit& v) const {
  const auto& d = devices_[device.value];
  const auto found = d.trained.find({v.model, v.what.shard.value});
  const bool there = found != d.trained.end() && found->second.version == v.at.step &&
                     found->second.staged >= d.cache.evicted_before();
  return has_base(v) && !there;
}

/// The sum of the wave before.
bool loop_run::sum_is_missing_on(device_id device, const loop_visit& v) const {
  const auto sum = *unit_of(v).sum_before;
  const auto& made = model_of(v).blocks[sum.value].made;
  if (options_.completion == completion_rule::ended || made.device != device) {
    return made.device != device;
  }
  const chain_position writer{v.at.step, model_of(v).chain.graph().writer(sum).value()};
  return !find_flight(v.model, writer) && !is_there(made, device);
}

bool loop_run::is_there(const boundary_place& place, device_id device) const {
  return place.staged > 0 && place.device == device &&
         place.staged >= devices_[device.value].cache.evicted_before();
}

void loop_run::note_blocks(const loop_visit& v, device_id device, const missing& what) {
  const auto& u = unit_of(v);
  auto& blocks = model_of(v).blocks;
  auto& lane = lane_of(v);
  const auto& cache = devices_[device.value].cache;
  lane.device = device;
  lane.staged = cache.inserted();
  for (const auto& b : {u.output, u.sum}) {
    if (b) {
      blocks[b->value].made = {device, lane.staged};
    }
  }
  if (u.boundary) {
    blocks[u.boundary->value].read = {device, what.boundary ? cache.inserted() : cache.found()};
  }
  if (u.base) {
    devices_[device.value].trained[{v.model, v.what.shard.value}] = {v.at.step,
                                                                     what.trained ? cache.inserted() : cache.found()};
  }
}

duration loop_run::copy_inputs(const loop_visit& v, loop_device& d, const missing& what, duration slot_from) {
  const auto& m = model_of(v);
  const auto& u = unit_of(v);
  auto ready = now_;
  const auto copy = [&](block_index b, duration from) {
    ready = std::max(ready, d.in.copy(now_, from, m.chain.copy_of(b)));
  };
  if (what.trained) {
    copy(u.parameters, now_);
  }
  if (what.slot) {
    copy(u.base.value_or(u.parameters), slot_from);
  }
  if (what.checkpoint) {
    copy(*u.checkpoint, now_);
  }
  if (what.boundary) {
    copy(*u.boundary, lane_of(v).output_home);
  }
  if (what.sum) {
    copy(*u.sum_before, m.blocks[u.sum_before->value].home);
  }
  return ready;
}

void loop_run::start_if_ready(std::uint32_t device) {
  auto& d = devices_[device];
  if (d.staged.empty() || d.computing || d.staged.front().ready > now_) {
    return;
  }
  d.computing = d.staged.front();
  d.staged.pop_front();
  auto& v = *d.computing;
  v.begun = now_;
  d.used_from = d.used_from.value_or(now_);
  push({.at = now_ + length_of(v, d), .kind = loop_event_kind::unit_ended, .a = device, .attempt = ++d.starts});
  tracker_.device_freed(device_id{device}, instance_.prefetch ? 1 : 0, v.what, clock());
}

duration loop_run::length_of(const loop_visit& v, const loop_device& d) const {
  auto cost = static_cast<double>(unit_of(v).cost.count());
  if (instance_.noise > 0) {
    cost *= 1 + instance_.noise * (2 * unit_noise(instance_.seed, v) - 1);
  }
  return duration{std::llround(cost / d.speed)};
}

bool loop_run::is_last_reader(const loop_visit& v) const {
  const auto& m = model_of(v);
  const auto& u = unit_of(v);
  const auto has_ended = [&](node_index n) {
    return m.lanes[m.chain.graph().lane_of(n)].ended >= m.chain.after({v.at.step, n});
  };
  return u.sum && std::ranges::all_of(m.chain.graph().readers(u.parameters), has_ended);
}

/// A version that was stepped is useless on all devices. A real device is not notified of steps elsewhere: it keeps the
/// version until it needs the memory.
void loop_run::drop_old_version(const loop_visit& v, std::uint32_t device) {
  const shard_version old{v.model, v.what.shard.value, v.at.step};
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
