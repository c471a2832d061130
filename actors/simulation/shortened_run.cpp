#include "actors/simulation/shortened_run.hpp"
#include "partition/plan/plan_outline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

std::uint64_t count_units(std::span<const sharded_model_ptr> models) {
  std::uint64_t units = 0;
  for (const auto& m : models) {
    units += units_of({}, *m).units();
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
  model->graphs = graphs_of(model->plan);
  return model;
}

std::vector<sharded_model_ptr> shorter(std::span<const sharded_model_ptr> models, std::uint32_t by) {
  std::vector<sharded_model_ptr> all;
  std::ranges::transform(models, std::back_inserter(all), [&](const sharded_model_ptr& m) { return shorter(*m, by); });
  return all;
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

}  // namespace

bounds bounds_of(std::span<const sharded_model_ptr> models, const forecast_setup& setup) {
  std::vector<unit_times> times;
  resources machines{.speeds = {}, .optimizer_workers = setup.optimizer_workers};
  byte_count room;
  for (const auto& d : setup.devices) {
    const bool counted = setup.recorded != nullptr;  // recorded times have it in them
    room = std::max(room, counted ? byte_count{} : setup.pipeline.saving_room(d.usable()));
  }
  for (const auto& m : models) {
    times.push_back(planned_times(*m, setup.devices, room));
  }
  machines.memory = {};
  for (const auto& d : setup.devices) {
    machines.speeds.push_back(d.speed);
    machines.memory += d.usable();
  }
  return lower_bounds(times, machines);
}

shortened_run shorten(forecast_setup setup) {
  shortened_run r{.setup = {}, .limits = bounds_of(setup.models, setup)};
  r.divided_by = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, count_units(setup.models) / setup.most_units));
  const auto models = shorter(setup.models, r.divided_by);
  const auto least = bounds_of(models, setup).best();
  if (r.divided_by > 1 && least > duration{}) {
    r.scale = seconds(r.limits.best()) / seconds(least);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    r.of_models.push_back(static_cast<double>(setup.models[i]->steps) / models[i]->steps);
  }
  r.setup = simulated(std::move(setup), models);
  return r;
}

}  // namespace hydra
