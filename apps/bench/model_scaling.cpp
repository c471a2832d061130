#include "apps/bench/model_scaling.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/scaling_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

scaling_run run_cell(const model_scaling_cell& cell, bench_workload w, known_parameters& parameters) {
  w.models = cell.models;
  w.devices = cell.devices;
  const report r = run_to_its_end(w);
  parameters.check(r, fmt::format("{} models on {} devices", cell.models, cell.devices));
  return figures_of(r);
}

/// A row of cells with the same models starts with the fewest devices.
void repeat(std::vector<model_scaling_cell>& cells, const bench_workload& w, known_parameters& parameters) {
  scaling_run first;
  int models = 0;
  for (model_scaling_cell& cell : cells) {
    const scaling_run run = run_cell(cell, w, parameters);
    if (cell.models != models) first = run;
    models = cell.models;
    cell.speed_up.values.push_back(first.makespan / run.makespan);
    cell.bound_speed_up.values.push_back(first.bound / run.bound);
    cell.over_bound.values.push_back(run.makespan / run.bound);
    cell.utilisation.values.push_back(run.utilisation);
  }
}

}  // namespace

model_scaling_result measure_model_scaling(const model_scaling_options& o) {
  bench_workload w = o.workload;
  model_scaling_result r{plan_bench(w), {}, {}};
  r.link = link_for(r.plan, o.ratio);
  w.memory = r.plan.memory;
  w.link = r.link;
  for (const int models : o.models)
    for (const int devices : o.devices) r.cells.push_back({.models = models, .devices = devices});
  known_parameters parameters;
  for (int i = 0; i < o.repeats; ++i) repeat(r.cells, w, parameters);
  return r;
}

std::string to_table(const model_scaling_result& r) {
  text_table t{{{"models", alignment::right},
                {"devices", alignment::right},
                {"speed-up median [min..max]", alignment::right},
                {"bound", alignment::right},
                {"makespan/bound", alignment::right},
                {"utilisation", alignment::right}}};
  for (const model_scaling_cell& c : r.cells)
    t.add({std::to_string(c.models), std::to_string(c.devices), to_string(c.speed_up),
           fmt::format("{:.2f}", c.bound_speed_up.median()), to_string(c.over_bound),
           fmt::format("{:.1f} %", 100 * c.utilisation.median())});
  return fmt::format("link {}, ", to_string(r.link)) + heading(r.plan) + t.to_string();
}

nlohmann::ordered_json json_of(const model_scaling_result& r) {
  auto rows = nlohmann::ordered_json::array();
  for (const model_scaling_cell& c : r.cells)
    rows.push_back({{"models", c.models},
                    {"devices", c.devices},
                    {"speed_up", json_of(c.speed_up)},
                    {"bound_speed_up", json_of(c.bound_speed_up)},
                    {"makespan_over_bound", json_of(c.over_bound)},
                    {"utilisation", json_of(c.utilisation)}});
  return rows;
}

}  // namespace hydra::apps
