#include "actors/admission/rehearsal.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hydra {

namespace {

/// Of the devices and the optimizer; `from`: first step of training.
std::shared_ptr<recorded_times> times_of(std::span<const span> spans, std::span<const device_info> devices,
                                         std::uint32_t from) {
  auto times = std::make_shared<recorded_times>();
  for (const auto& s : spans) {
    const auto label = parse_label(s.detail);
    if (!label || (label->way != "evaluate" && label->step < from)) {
      continue;
    }
    if (s.track == "host optimizer") {
      times->add_update(s);
      continue;
    }
    for (const auto& d : devices) {
      if (const auto queue = queue_of_track(s.track, d.name)) {
        times->add(*queue, d.name, d.speed, s);
      }
    }
  }
  return times;
}

/// Of a time in which devices work. Those that wait, for models that arrive later, have no overhead.
duration longer_by(duration working, double overhead) { return from_seconds(seconds(working) * (overhead - 1)); }

}  // namespace

planned_workload first_steps(planned_workload planned, std::uint32_t steps) {
  planned.begins = {};
  for (std::size_t i = 0; i < planned.prepared.size(); ++i) {
    planned.prepared[i].steps = std::min(planned.prepared[i].steps, steps);
    auto& plan = planned.plan.models[i];
    auto& evaluation = plan.evaluation;
    evaluation.micro_batches = std::min(evaluation.micro_batches, evaluation.round * plan.shape().lanes());
  }
  return planned;
}

std::vector<model_description> first_steps(std::vector<model_description> models, const planned_workload& part) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    auto& m = models[i];
    m.arrival = {};
    m.begins.clear();
    m.epochs = 0;
    m.steps = part.prepared[i].steps;
    m.optimizer.schedule = {};  // it may need more steps than these
    m.stop_on_nan = false;
    const auto batches = part.plan.models[i].evaluation.micro_batches / m.micro_batches;
    if (batches > 0) {
      m.validate = {.every_steps = m.validate.value_or(validation_options{}).every_steps, .batches = batches};
    }
  }
  return models;
}

rehearsal rehearsed_by(std::span<const span> spans, duration makespan, const planned_run& part) {
  rehearsal r{.summary = {.makespan = makespan}, .times = times_of(spans, part.devices, 0)};
  auto& found = r.summary;
  for (const auto& p : part.planned.prepared) {
    found.steps = std::max(found.steps, p.steps);
  }
  auto setup = forecast_of_plan(with_times_of(r, part));
  setup.chosen = part.make_policy();
  setup.most_units = std::numeric_limits<std::uint64_t>::max();
  const auto simulated = predict_by(r, std::move(setup)).makespan;
  if (simulated > duration{} && part.planned.plan.waiting.empty()) {  // those that wait are loaded meanwhile, once
    found.overhead = std::max(1.0, seconds(makespan) / seconds(simulated));
  }
  if (found.steps > 1) {
    r.times = times_of(spans, part.devices, 1);
  }
  found.spread = r.times->spread();
  return r;
}

planned_run with_times_of(const rehearsal& r, planned_run run) {
  for (auto& m : run.planned.plan.models) {
    set_times(m, *r.times);
    m.saving_room = {};  // backward visits were measured with what was saved
  }
  return run;
}

forecast predict_by(const rehearsal& r, forecast_setup setup) {
  r.times->rewind();
  setup.recorded = r.times;
  auto f = predict(std::move(setup));
  const auto overhead = longer_by(std::min(f.makespan, f.limits.work), r.summary.overhead);
  f.makespan += overhead;
  for (auto& d : f.work.devices) {
    d.used += overhead;  // in which devices work
  }
  f.work.makespan = f.makespan;
  f.compute_end += overhead;
  return f;
}

}  // namespace hydra
