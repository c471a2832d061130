#include "actors/simulation/forecast.hpp"

#include "actors/simulation/planned_instance.hpp"
#include "actors/simulation/recorded_times.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "actors/simulation/simulation.hpp"
#include "partition/plan/shared_bases.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/usable_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

std::uint64_t count_units(std::span<const sharded_model_ptr> models) {
  std::uint64_t units = 0;
  for (const auto& m : models) {
    for (const auto& lane : lanes_of({}, *m)) {
      units += lane.units();
    }
  }
  return units;
}

/// A model without its chain, with fewer steps.
sharded_model_ptr shorter(const sharded_model& m, std::uint32_t by) {
  auto model = std::make_shared<sharded_model>();
  model->name = m.name;
  model->ties = m.ties;
  model->plan = m.plan;
  model->update = m.update;
  model->remaining_scale = m.remaining_scale;
  model->steps = std::max(1U, m.steps / by);
  model->terms = m.terms;
  model->terms.arrival /= by;
  if (model->terms.deadline) {
    *model->terms.deadline /= by;
  }
  model->evaluate_every = m.evaluate_every;
  if (m.evaluate_every == 0) {
    model->plan.evaluation.micro_batches = (m.plan.evaluation.micro_batches + by - 1) / by;  // its share stays the same
  }
  return model;
}

std::vector<sharded_model_ptr> shorter(std::span<const sharded_model_ptr> models, std::uint32_t by) {
  std::vector<sharded_model_ptr> all;
  std::ranges::transform(models, std::back_inserter(all), [&](const sharded_model_ptr& m) { return shorter(*m, by); });
  return all;
}

bounds bounds_of(std::span<const sharded_model_ptr> models, const forecast_setup& setup) {
  std::vector<unit_times> times;
  resources machines{.speeds = {}, .optimizer_workers = setup.optimizer_workers};
  byte_count room;
  for (const auto& d : setup.devices) {
    const bool counted = setup.recorded != nullptr;  // recorded times have it in them
    room = std::max(room, counted ? byte_count{} : setup.pipeline.saving_room(usable_memory(d)));
  }
  for (const auto& m : models) {
    times.push_back(planned_times(*m, setup.devices, room));
  }
  machines.memory = {};
  for (const auto& d : setup.devices) {
    machines.speeds.push_back(d.speed);
    machines.memory += usable_memory(d);
  }
  return lower_bounds(times, machines);
}

/// Since the start of the run.
duration compute_end_of(simulation& s, const run_record& record) {
  auto end = record.first_prefetch.value();
  for (const auto& each : s.spans().spans()) {
    if (each.name == "execute_shard" || each.name == "update_shard") {
      end = std::max(end, each.end);
    }
  }
  return end - record.first_prefetch.value();
}

void count_loads(forecast& f, const run_record& record) {
  for (const auto& d : record.devices) {
    f.loads += d.counters.misses;
    f.hits += d.counters.hits;
    f.saved += d.counters.saved;
    f.recomputed += d.counters.recomputed;
  }
  f.decisions = record.decisions;
}

simulation_setup simulated(forecast_setup setup, const std::vector<sharded_model_ptr>& models) {
  simulation_setup run;
  run.planned = models;
  run.waiting = setup.waiting;
  run.planned_memory = setup.host_memory;
  run.devices = std::move(setup.devices);
  run.chosen = std::move(setup.chosen);
  run.pipeline = setup.pipeline;
  run.optimizer_workers = setup.optimizer_workers;
  return run;
}

/// Operations take their recorded times.
void time_by(simulation& s, std::size_t devices, const std::shared_ptr<recorded_times>& times) {
  for (std::size_t d = 0; d < devices; ++d) {
    const auto& machine = s.device_at(d).info();
    s.device_at(d).time_by([times, name = machine.name, speed = machine.speed](queue_kind queue, const operation& op) {
      return times->take(queue, name, speed, op);
    });
  }
}

}  // namespace

namespace {

/// Of all micro-batches of a lane.
duration least_backward(const model_plan& plan, std::size_t s, byte_count saving) {
  const auto& shard = plan.shards[s];
  const auto lanes = plan.shape().lanes();
  const auto batches = plan.shape().lane_size();
  const auto each = charged_bytes(shard.saved);
  const auto saved = each > byte_count{} ? std::min<std::uint64_t>(batches, saving.value() / each.value()) : 0;
  return shard.backward_time / lanes - shard.forward_time / plan.micro_batches * static_cast<duration::rep>(saved);
}

}  // namespace

unit_times planned_times(const sharded_model& m, std::span<const device_info> devices, byte_count saving) {
  unit_times t;
  t.steps = m.steps;
  t.replicas = m.plan.replicas;
  t.waves = m.plan.waves;
  t.first_trained = m.plan.first_trained;
  const auto lanes = m.plan.shape().lanes();
  t.evaluation_micro_batches = m.plan.evaluation.micro_batches;
  t.evaluated_last = t.evaluation_micro_batches > 0;
  t.evaluations = units_of({}, m).evaluations_after(0);
  for (const auto& s : m.plan.shards) {
    t.forward.push_back(s.forward_time / lanes);
    t.backward.push_back(std::max(least_backward(m.plan, t.backward.size(), saving), duration{}));
    t.evaluate.push_back(s.evaluation_time);
    const bool crosses = !s.steps_on_device;   // its versions need not leave the device
    t.update.push_back(crosses ? s.update_time : duration{});
    t.promote.push_back(crosses ? fastest_copy(s.parameters, devices) : duration{});
    t.bases.push_back({s.base > byte_count{} ? fastest_copy(s.base, devices) : duration{}, s.base, shared_name(s)});
    const bool trained = t.demote.size() >= m.plan.first_trained;
    t.demote.push_back(crosses && trained ? fastest_copy(s.gradient_bytes(), devices) : duration{});
  }
  return t;
}

duration makespan_of(const run_record& record) {
  if (record.aborted) {
    throw fault_error(record.aborted);
  }
  for (const auto& m : record.models) {
    if (m.why) {
      throw fault_error(m.why);
    }
  }
  return record.last_update.value() - record.first_prefetch.value();
}

forecast predict(forecast_setup setup) {
  forecast f;
  f.limits = bounds_of(setup.models, setup);
  f.policy = setup.chosen->name();
  f.shortened = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, count_units(setup.models) / setup.most_units));
  const auto models = shorter(setup.models, f.shortened);
  const auto least = bounds_of(models, setup).best();
  const double scale = f.shortened > 1 && least > duration{} ? seconds(f.limits.best()) / seconds(least) : 1;
  const auto devices = setup.devices.size();
  const auto recorded = setup.recorded;
  simulation s(simulated(std::move(setup), models));
  if (recorded) {
    time_by(s, devices, recorded);
  }
  s.run();
  if (!s.record()) {
    throw fault_error(fault_code::internal, "the simulated run of the plan hangs");
  }
  f.makespan = from_seconds(seconds(makespan_of(*s.record())) * scale);
  if (!recorded) {
    f.makespan = std::max(f.limits.best(), f.makespan);
  }
  f.compute_end = from_seconds(seconds(compute_end_of(s, *s.record())) * scale);
  count_loads(f, *s.record());
  f.replacements = s.record()->replacements;
  return f;
}

}  // namespace hydra
