#include "actors/simulation/loop_run.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

loop_run::loop_run(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options)
    : instance_(instance),
      options_(options),
      tracker_(std::move(chosen)),
      workers_(instance.host_workers),
      on_placed_([this](const placement& p) { stage(p); }) {
  for (std::uint32_t d = 0; d < instance.devices.size(); ++d) {
    devices_.emplace_back(instance, instance.devices[d].speed);
    tracker_.add_device(device_id{d}, instance.devices[d].speed, instance_link);
    tracker_.device_freed(device_id{d}, instance.depth, std::nullopt, clock());
    if (instance.devices[d].fails) {
      push({.at = *instance.devices[d].fails, .kind = loop_event_kind::died, .a = d});
    }
  }
  const auto owners = base_owners(instance);
  for (std::uint32_t m = 0; m < instance.models.size(); ++m) {
    models_.emplace_back(instance.models[m], model_id{m}, owners[m]);
    push({.at = instance.models[m].arrival, .kind = loop_event_kind::arrived, .a = m});
  }
  result_.finished.resize(models_.size());
  const device_work idle{.computed = std::vector<duration>(models_.size())};
  result_.work = {.devices = std::vector(devices_.size(), idle), .models = models_.size()};
}

simulated_run loop_run::run() {
  while (!finished()) {
    if (events_.empty()) {
      if (tracker_.ready_count() == 0) {
        throw fault_error{fault_code::internal, instance_.name + ": the simulated run hangs after " + to_string(now_)};
      }
      replace_policy("stays silent although units are ready and nothing is under way");
    } else {
      now_ = events_.top().at;
      while (!events_.empty() && events_.top().at == now_) {
        const auto e = events_.top();
        events_.pop();
        apply(e);
      }
      for (std::uint32_t d = 0; d < devices_.size(); ++d) {
        start_if_ready(d);
      }
    }
    decide();
  }
  result_.decisions = tracker_.decisions();
  result_.work.makespan = result_.makespan;
  return std::move(result_);
}

// -- events -----------------------------------------------------------------------------------------------------------

void loop_run::apply(const loop_event& e) {
  switch (e.kind) {
    case loop_event_kind::unit_ended: return on_unit_ended(e);
    case loop_event_kind::written_back: return on_written_back(e);
    case loop_event_kind::gradients_written_back: return on_sum_landed(e);
    case loop_event_kind::version_ready: return on_version_ready(e.a, e.b);
    case loop_event_kind::copies_ended: return;
    case loop_event_kind::arrived: return on_arrived(e.a);
    case loop_event_kind::died: return on_died(e.a);
  }
}

void loop_run::on_unit_ended(const loop_event& e) {
  auto& d = devices_[e.a];
  if (!d.computing || e.attempt != d.starts) {
    return;  // its device has died, or it was withdrawn
  }
  const auto v = *std::exchange(d.computing, std::nullopt);
  d.cache.unpin(v.slot);
  lane_of(v).ended = model_of(v).chain.after(v.at);
  result_.compute_end = now_;
  auto& work = result_.work.devices[e.a];
  work.computed[v.model] += now_ - v.begun;
  work.used = now_ - d.used_from.value_or(v.begun);
  if (options_.record_order) {
    result_.units.push_back(
        {model_id{v.model}, v.lane, v.at.step, place_of(v), device_id{e.a}, v.begun, now_, v.hit});
  }
  const bool outdated = !has_base(v) && is_last_reader(v);
  copy_outputs(v, d, outdated);
  if (outdated) {
    drop_old_version(v, e.a);
  }
  tracker_.device_freed(device_id{e.a}, instance_.prefetch ? 0 : 1, std::nullopt, clock());
  if (options_.completion == completion_rule::ended) {
    tracker_.unit_completed(v.what, clock());
  }
  announce_from(v.model, v.lane);
  leave_if_over(v.model);
}

/// As soon as none of its units can be lost any more.
void loop_run::leave_if_over(std::uint32_t model) {
  const auto& m = models_[model];
  const auto at_end = [&](const loop_lane& lane) { return lane.next.step == m.chain.steps(); };
  const bool over = std::ranges::all_of(m.lanes, at_end);
  if (over && tracker_.flights_of(model_id{model}).empty()) {
    tracker_.remove_model(model_id{model});
  }
}

/// The output first, then the gradients: the copies of a unit end in this order.
void loop_run::copy_outputs(const loop_visit& v, loop_device& d, bool outdated) {
  const auto& chain = model_of(v).chain;
  const auto& u = unit_of(v);
  auto written_back = now_;
  if (u.output) {
    written_back = lane_of(v).output_home = d.out.copy(now_, now_, chain.copy_of(*u.output));
  }
  if (u.sum) {
    written_back = std::max(written_back, copy_gradients(v, d, outdated));
  } else if (instance_.copy_back_clean) {
    written_back = d.out.copy(now_, now_, chain.copy_of(u.parameters));
    if (!u.base) {
      d.cache.drain(v.slot, written_back);
    }
  }
  if (options_.completion == completion_rule::written_back) {
    push({.at = in_order(v, written_back), .kind = loop_event_kind::written_back, .a = v.model, .b = place_of(v),
          .lane = v.lane, .position = v.at, .attempt = v.what.attempt});
  }
}

/// Copies of length zero overtake others, but units end in the order of the chain: the host must never have the outputs
/// of a unit without those of the unit before.
duration loop_run::in_order(const loop_visit& v, duration written_back) {
  const auto& u = unit_of(v);
  auto& lane = lane_of(v);
  auto& blocks = model_of(v).blocks;
  lane.written_back = std::max(lane.written_back, written_back);
  if (u.sum_before) {
    lane.written_back = std::max(lane.written_back, blocks[u.sum_before->value].home);
  }
  if (u.sum) {
    blocks[u.sum->value].home = lane.written_back;
  }
  return lane.written_back;
}

/// The sum of a wave before the last one only passes through the host; the parameters stay useful.
duration loop_run::copy_gradients(const loop_visit& v, loop_device& d, bool outdated) {
  auto& m = model_of(v);
  const auto sum = *unit_of(v).sum;
  const auto home = m.blocks[sum.value].home = d.out.copy(now_, now_, m.chain.copy_of(sum));
  if (outdated) {
    d.cache.stale(v.slot);
  }
  if (options_.completion == completion_rule::ended) {
    if (!has_base(v)) {
      d.cache.drain(v.slot, home);
    }
    push({.at = home, .kind = loop_event_kind::gradients_written_back, .a = v.model, .b = v.what.shard.value,
          .lane = v.lane, .position = v.at});
  }
  return home;
}

void loop_run::on_written_back(const loop_event& e) {
  auto& m = models_[e.a];
  auto& lane = m.lanes[e.lane];
  const auto* found = find_flight(e.a, e.position);
  if (!found || found->phase != flight_phase::write_back || found->what.attempt != e.attempt) {
    return;  // lost with its device
  }
  tracker_.unit_completed(unit{found->what}, clock());
  lane.predecessor_written_back = tracker_.flights_of(model_id{e.a}, e.lane).empty();
  if (m.chain.at(e.position.node).sum) {
    on_sum_landed(e);
  }
  announce_from(e.a, e.lane);
  leave_if_over(e.a);
}

/// A shard is stepped when the sums of all replicas are on the host.
void loop_run::on_sum_landed(const loop_event& e) {
  auto& m = models_[e.a];
  const auto sum = *m.chain.at(e.position.node).sum;
  if (!m.chain.graph().readers(sum).empty()) {
    return;  // another wave adds to it
  }
  m.blocks[sum.value].landed = e.position.step + 1;
  const auto shard = m.chain.shard_of(e.position.node);
  const auto is_here = [&](block_index b) { return m.blocks[b.value].landed > e.position.step; };
  if (!std::ranges::all_of(m.chain.whole_sums(shard), is_here)) {
    return;
  }
  update(e.a, shard.value);
  for (std::uint32_t s = 0; shard.value == m.given->first_trained && s < shard.value; ++s) {
    update(e.a, s);  // the next version of a frozen shard is the same
  }
}

void loop_run::update(std::uint32_t model, std::uint32_t shard) {
  auto& m = models_[model];
  auto& worker = *std::ranges::min_element(workers_);
  worker = std::max(worker, now_) + m.given->optimizer[shard];
  push({.at = worker, .kind = loop_event_kind::version_ready, .a = model, .b = shard});
}

void loop_run::on_version_ready(std::uint32_t model, std::uint32_t shard) {
  auto& m = models_[model];
  m.last_ready += ++m.versions[shard] == m.chain.steps() ? 1 : 0;
  if (m.last_ready == m.versions.size()) {
    ++models_over_;
    result_.finished[model] = result_.makespan = now_;
  }
  for (std::uint32_t lane = 0; lane < m.lanes.size(); ++lane) {
    announce(model, lane);
  }
}

void loop_run::on_arrived(std::uint32_t model) {
  auto& m = models_[model];
  model_traits traits{.priority = m.given->priority, .shape = shape_of(*m.given), .graphs = m.chain.graphs()};
  if (m.given->deadline) {
    traits.deadline = time_point{*m.given->deadline};
  }
  tracker_.add_model(model_id{model}, traits);
  m.here = true;
  for (std::uint32_t lane = 0; lane < m.lanes.size(); ++lane) {
    announce(model, lane);
  }
}

}  // namespace hydra
