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
    tracker_.device_freed(device_id{d}, 1, std::nullopt, clock());
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
  lane_of(v).predecessor_ended = true;
  result_.compute_end = now_;
  if (options_.record_order) {
    result_.units.push_back({model_id{v.model}, v.lane, v.step, v.index, device_id{e.a}, v.begun, now_, v.hit});
  }
  copy_outputs(v, d);
  if (is_last_reader(v) && !has_base(v)) {
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
  const bool over = std::ranges::all_of(m.lanes, [&](const loop_lane& lane) { return lane.step == m.chain.steps(); });
  if (over && tracker_.flights_of(model_id{model}).empty()) {
    tracker_.remove_model(model_id{model});
  }
}

/// The output first, then the gradients: the copies of a unit end in this order.
void loop_run::copy_outputs(const loop_visit& v, loop_device& d) {
  const auto& m = model_of(v);
  const bool forward = m.chain.is_forward(v.index);
  auto written_back = now_;
  if (!m.chain.ends_step(v.index)) {
    written_back = lane_of(v).output_home = d.out.copy(now_, now_, m.given->activation);
  }
  if (forward && instance_.copy_back_clean) {
    written_back = d.out.copy(now_, now_, m.given->h2d[m.chain.shard_of(v.index)]);
    if (!has_base(v)) {
      d.cache.drain(v.slot, written_back);
    }
  }
  if (!forward) {
    written_back = std::max(written_back, copy_gradients(v, d));
  }
  if (options_.completion == completion_rule::written_back) {
    push({.at = in_order(v, written_back), .kind = loop_event_kind::written_back, .a = v.model, .b = v.index,
          .lane = v.lane, .step = v.step, .attempt = v.what.attempt});
  }
}

/// Copies of length zero overtake others, but units end in the order of the chain: the host must never have the outputs
/// of a unit without those of the unit before.
duration loop_run::in_order(const loop_visit& v, duration written_back) {
  auto& lane = lane_of(v);
  lane.written_back = std::max(lane.written_back, written_back);
  if (model_of(v).chain.continues_sum(v.lane, v.index)) {
    const auto before = models_[v.model].lanes[v.lane - 1].sums_home[v.what.shard.value];
    lane.written_back = std::max(lane.written_back, before);
  }
  if (!model_of(v).chain.is_forward(v.index)) {
    lane.sums_home[v.what.shard.value] = lane.written_back;
  }
  return lane.written_back;
}

/// The sum of a wave before the last one only passes through the host; the parameters stay useful.
duration loop_run::copy_gradients(const loop_visit& v, loop_device& d) {
  const auto& m = model_of(v);
  const auto s = m.chain.shard_of(v.index);
  const auto home = d.out.copy(now_, now_, m.given->d2h_gradient[s]);
  lane_of(v).sums_home[s] = home;
  if (is_last_reader(v) && !has_base(v)) {
    d.cache.stale(v.slot);
  }
  if (options_.completion == completion_rule::ended) {
    if (!has_base(v)) {
      d.cache.drain(v.slot, home);
    }
    push({.at = home, .kind = loop_event_kind::gradients_written_back, .a = v.model, .b = s, .lane = v.lane,
          .step = v.step});
  }
  return home;
}

void loop_run::on_written_back(const loop_event& e) {
  auto& m = models_[e.a];
  auto& lane = m.lanes[e.lane];
  const auto flights = tracker_.flights_of(model_id{e.a}, e.lane);
  const auto found = std::ranges::find_if(flights, [&](const flight& f) {
    return f.phase == flight_phase::write_back && m.chain.index_of(f.what) == e.b && f.what.attempt == e.attempt;
  });
  if (found == flights.end()) {
    return;  // lost with its device
  }
  const bool alone = flights.size() == 1;
  tracker_.unit_completed(unit{found->what}, clock());
  lane.predecessor_written_back = lane.predecessor_written_back || (lane.predecessor_ended && alone);
  if (!m.chain.is_forward(e.b)) {
    on_sum_landed({.at = now_, .a = e.a, .b = m.chain.shard_of(e.b), .lane = e.lane, .step = e.step});
  }
  announce_from(e.a, e.lane);
  leave_if_over(e.a);
}

/// A shard is stepped when the sums of all replicas are on the host.
void loop_run::on_sum_landed(const loop_event& e) {
  auto& m = models_[e.a];
  if (!m.chain.completes_sum(e.lane)) {
    return;
  }
  m.lanes[e.lane].landed[e.b] = e.step + 1;
  for (std::uint32_t lane = 0; lane < m.lanes.size(); ++lane) {
    if (m.chain.completes_sum(lane) && m.lanes[lane].landed[e.b] <= e.step) {
      return;
    }
  }
  update(e.a, e.b);
  for (std::uint32_t s = 0; e.b == m.given->first_trained && s < e.b; ++s) {
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
  if (m.last_ready == m.chain.shards()) {
    ++models_over_;
    result_.finished[model] = result_.makespan = now_;
  }
  for (std::uint32_t lane = 0; lane < m.lanes.size(); ++lane) {
    announce(model, lane);
  }
}

void loop_run::on_arrived(std::uint32_t model) {
  auto& m = models_[model];
  model_traits traits{
      .priority = m.given->priority, .shape = m.chain.graph().shape(), .graphs = graphs_of(*m.given, m.chain)};
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
