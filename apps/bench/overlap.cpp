#include "apps/bench/overlap.hpp"

#include "actors/report/text_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

double over(duration makespan, duration bound) { return seconds(makespan) / seconds(bound); }

void run_cell(overlap_cell& cell, bench_workload w) {
  w.memory = cell.memory;
  w.models = cell.models;
  w.link = cell.link;
  const report r = run_to_its_end(w);
  cell.makespan_over_bound.values.push_back(over(r.makespan, r.bound()));
  cell.over_mean_bound.values.push_back(over(r.makespan, r.usual.best()));
  const forecast f = predict_bench(w);
  cell.simulated.values.push_back(over(f.makespan, f.limits.best()));
}

std::vector<overlap_cell> make_cells(const overlap_options& o, const bench_plan& plan) {
  std::vector<overlap_cell> cells;
  for (const unsigned times : o.memory)
    for (const int models : o.models)
      for (const double ratio : o.ratios)
        cells.push_back(
            {.memory = plan.least * times, .models = models, .ratio = ratio, .link = link_for(plan, ratio)});
  return cells;
}

}  // namespace

overlap_result measure_overlap(const overlap_options& o) {
  bench_workload w = o.workload;
  overlap_result r{plan_bench(w), {}};
  r.cells = make_cells(o, r.plan);
  for (int repeat = 0; repeat < o.repeats; ++repeat)
    for (overlap_cell& cell : r.cells) run_cell(cell, w);
  return r;
}

std::string to_table(const overlap_result& r) {
  text_table t{{{"memory", alignment::right},
                {"models", alignment::right},
                {"promote/unit", alignment::right},
                {"link", alignment::right},
                {"makespan/bound median [min..max]", alignment::right},
                {"at mean times", alignment::right},
                {"simulated", alignment::right}}};
  for (const overlap_cell& c : r.cells)
    t.add({to_string(c.memory), std::to_string(c.models), fmt::format("{:g}", c.ratio), to_string(c.link),
           to_string(c.makespan_over_bound), to_string(c.over_mean_bound), to_string(c.simulated)});
  return heading(r.plan) + t.to_string();
}

nlohmann::ordered_json json_of(const overlap_result& r) {
  nlohmann::ordered_json j{{"memory_bytes", r.plan.memory.value()},
                           {"mean_unit_s", seconds(r.plan.mean_unit)},
                           {"mean_promote_bytes", r.plan.mean_promote.value()},
                           {"cells", nlohmann::ordered_json::array()}};
  for (const overlap_cell& c : r.cells)
    j["cells"].push_back({{"memory_bytes", c.memory.value()},
                          {"models", c.models},
                          {"promote_over_unit", c.ratio},
                          {"makespan_over_bound", json_of(c.makespan_over_bound)},
                          {"makespan_over_mean_bound", json_of(c.over_mean_bound)},
                          {"simulated_over_bound", json_of(c.simulated)}});
  return j;
}

}  // namespace hydra::apps
