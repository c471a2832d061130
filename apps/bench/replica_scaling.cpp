#include "apps/bench/replica_scaling.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/scaling_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace hydra::apps {

namespace {

/// Of each number of replicas, which decides results.
using parameters_of_replicas = std::map<std::uint32_t, known_parameters>;

scaling_run run_cell(const replica_scaling_cell& cell, bench_workload w, parameters_of_replicas& parameters) {
  w.link = cell.link;
  w.parallel.replicas = cell.replicas;
  const report r = run_to_its_end(w);
  parameters[cell.replicas].check(r, fmt::format("{} replicas on {} devices", cell.replicas, w.devices));
  return figures_of(r);
}

double makespan_of_one_device(replica_scaling_cell cell, bench_workload w, parameters_of_replicas& parameters) {
  w.devices = 1;
  cell.replicas = 1;
  return run_cell(cell, w, parameters).makespan;
}

void repeat(std::vector<replica_scaling_cell>& cells, const bench_workload& w, parameters_of_replicas& parameters) {
  double alone = 0;
  double ratio = 0;
  for (replica_scaling_cell& cell : cells) {
    if (cell.ratio != ratio) alone = makespan_of_one_device(cell, w, parameters);
    ratio = cell.ratio;
    const scaling_run run = run_cell(cell, w, parameters);
    cell.speed_up.values.push_back(alone / run.makespan);
    cell.over_bound.values.push_back(run.makespan / run.bound);
    cell.utilisation.values.push_back(run.utilisation);
  }
}

}  // namespace

replica_scaling_result measure_replica_scaling(const replica_scaling_options& o) {
  replica_scaling_result r{o.workload.devices, plan_bench(o.workload), {}};
  for (const double ratio : o.ratios)
    for (const std::uint32_t replicas : o.replicas)
      r.cells.push_back({.ratio = ratio, .link = link_for(r.plan, ratio), .replicas = replicas});
  parameters_of_replicas parameters;
  for (int i = 0; i < o.repeats; ++i) repeat(r.cells, o.workload, parameters);
  return r;
}

std::string to_table(const replica_scaling_result& r) {
  text_table t{{{"replicas", alignment::right},
                {"promote/unit of a step", alignment::right},
                {"of a replica", alignment::right},
                {"link", alignment::right},
                {"speed-up median [min..max]", alignment::right},
                {"makespan/bound", alignment::right},
                {"utilisation", alignment::right}}};
  for (const replica_scaling_cell& c : r.cells)
    t.add({std::to_string(c.replicas), fmt::format("{:.3g}", c.ratio), fmt::format("{:.3g}", c.ratio * c.replicas),
           to_string(c.link), to_string(c.speed_up), to_string(c.over_bound),
           fmt::format("{:.1f} %", 100 * c.utilisation.median())});
  return fmt::format("one model on {} devices, mean unit of a step {}, mean promote {}\n\n", r.devices,
                     hydra::to_string(r.plan.mean_unit), to_string(r.plan.mean_promote)) +
         t.to_string();
}

nlohmann::ordered_json json_of(const replica_scaling_result& r) {
  auto rows = nlohmann::ordered_json::array();
  for (const replica_scaling_cell& c : r.cells)
    rows.push_back({{"replicas", c.replicas},
                    {"devices", r.devices},
                    {"promote_over_unit_of_step", c.ratio},
                    {"speed_up", json_of(c.speed_up)},
                    {"makespan_over_bound", json_of(c.over_bound)},
                    {"utilisation", json_of(c.utilisation)}});
  return rows;
}

}  // namespace hydra::apps
