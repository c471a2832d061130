#include "actors/simulation/predict.hpp"

#include "actors/report/unit_times_record.hpp"
#include "actors/simulation/planned_instance.hpp"
#include "actors/simulation/recorded_times.hpp"
#include "actors/simulation/shortened_run.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "actors/simulation/simulation.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hydra {

namespace {

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

/// As of a run of all steps with that makespan.
run_work scaled(run_work work, duration makespan, const std::vector<double>& of_models) {
  const auto by = work.makespan > duration{} ? seconds(makespan) / seconds(work.makespan) : 1;
  for (auto& d : work.devices) {
    for (std::size_t m = 0; m < d.computed.size() && m < of_models.size(); ++m) {
      d.computed[m] = from_seconds(seconds(d.computed[m]) * of_models[m]);
    }
    const auto busy = std::accumulate(d.computed.begin(), d.computed.end(), duration{});
    d.used = std::min(makespan, std::max(busy, from_seconds(seconds(d.used) * by)));
  }
  work.makespan = makespan;
  return work;
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

/// Of all micro-batches of a visit.
duration least_backward(const model_plan& plan, std::size_t s, byte_count saving) {
  const auto& shard = plan.shards[s];
  const auto visits = plan.shape().visits_of(static_cast<std::uint32_t>(s));
  const auto batches = plan.shape().batches_of(static_cast<std::uint32_t>(s));
  const auto each = charged_bytes(shard.saved);
  const auto saved = each > byte_count{} ? std::min<std::uint64_t>(batches, saving.value() / each.value()) : 0;
  return shard.backward_time / visits - shard.forward_time / plan.micro_batches * static_cast<duration::rep>(saved);
}

}  // namespace

unit_times planned_times(const sharded_model& m, std::span<const device_info> devices, byte_count saving) {
  auto t = without_times(m.plan);
  t.steps = m.steps;
  const auto step = m.plan.shape();
  t.evaluated_last = t.evaluation_micro_batches > 0;
  t.evaluations = m.evaluations().due_after(0, m.steps);
  for (const auto& s : m.plan.shards) {
    t.forward.push_back(s.forward_time / step.visits_of(static_cast<std::uint32_t>(t.forward.size())));
    t.backward.push_back(std::max(least_backward(m.plan, t.backward.size(), saving), duration{}));
    t.evaluate.push_back(s.evaluation_time);
    const bool crosses = !s.steps_on_device;   // its versions need not leave the device
    t.update.push_back(crosses ? s.update_time : duration{});
    t.promote.push_back(crosses ? fastest_copy(s.parameters, devices) : duration{});
    const bool trained = t.demote.size() >= m.plan.first_trained;
    t.demote.push_back(crosses && trained ? fastest_copy(s.gradient_bytes(), devices) : duration{});
  }
  for (auto& b : t.bases) {
    b.promote = b.bytes > byte_count{} ? fastest_copy(b.bytes, devices) : duration{};
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
  f.policy = setup.chosen->name();
  const auto devices = setup.devices.size();
  const auto recorded = setup.recorded;
  auto run = shorten(std::move(setup));
  f.limits = run.limits;
  f.shortened = run.divided_by;
  simulation s(std::move(run.setup));
  if (recorded) {
    time_by(s, devices, recorded);
  }
  s.run();
  if (!s.record()) {
    throw fault_error(fault_code::internal, "the simulated run of the plan hangs");
  }
  f.makespan = from_seconds(seconds(makespan_of(*s.record())) * run.scale);
  if (!recorded) {
    f.makespan = std::max(f.limits.best(), f.makespan);
  }
  f.compute_end = from_seconds(seconds(compute_end_of(s, *s.record())) * run.scale);
  f.work = scaled(s.record()->work, f.makespan, run.of_models);
  count_loads(f, *s.record());
  f.replacements = s.record()->replacements;
  return f;
}

}  // namespace hydra
