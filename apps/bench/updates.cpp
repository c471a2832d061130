#include "apps/bench/updates.hpp"

#include "actors/report/text_table.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace hydra::apps {

namespace {

double makespan_of(const updates_cell& cell, optimizer_place place, bench_workload w) {
  w.models = cell.models;
  w.link = cell.link;
  w.optimizer_on = place;
  return seconds(run_to_its_end(w).makespan);
}

std::vector<updates_cell> make_cells(const updates_options& o, const bench_plan& plan) {
  std::vector<updates_cell> cells;
  for (const int models : o.models)
    for (const double ratio : o.ratios)
      for (const auto place : {optimizer_place::automatic, optimizer_place::device})
        cells.push_back({models, ratio, link_for(plan, ratio), place, {}});
  return cells;
}

void repeat(updates_result& r, const bench_workload& w) {
  std::map<std::pair<int, double>, double> on_host;
  for (updates_cell& cell : r.cells) {
    const auto [host, first] = on_host.try_emplace({cell.models, cell.ratio}, 0);
    if (first) host->second = makespan_of(cell, optimizer_place::host, w);
    cell.over_host.values.push_back(makespan_of(cell, cell.place, w) / host->second);
  }
}

}  // namespace

updates_result measure_updates(const updates_options& o) {
  bench_workload w = o.workload;
  w.optimizer_on = optimizer_place::device;
  updates_result r{plan_bench(w), {}};
  w.memory = r.plan.memory;
  r.cells = make_cells(o, r.plan);
  for (int i = 0; i < o.repeats; ++i) repeat(r, w);
  return r;
}

std::string to_table(const updates_result& r) {
  text_table t{{{"models", alignment::right},
                {"promote/unit", alignment::right},
                {"link", alignment::right},
                {"optimizer_on", alignment::left},
                {"makespan/host median [min..max]", alignment::right}}};
  for (const updates_cell& c : r.cells)
    t.add({std::to_string(c.models), fmt::format("{:g}", c.ratio), to_string(c.link), to_string(c.place), to_string(c.over_host)});
  return heading(r.plan) + t.to_string();
}

std::string to_json(const updates_result& r, const machine_description& on) {
  nlohmann::ordered_json j{{"name", "updates"},
                           {"processor", on.processor},
                           {"cores_used", on.cores_used},
                           {"memory_bytes", r.plan.memory.value()},
                           {"mean_unit_s", seconds(r.plan.mean_unit)},
                           {"mean_promote_bytes", r.plan.mean_promote.value()},
                           {"cells", nlohmann::ordered_json::array()}};
  for (const updates_cell& c : r.cells)
    j["cells"].push_back({{"models", c.models},
                          {"promote_over_unit", c.ratio},
                          {"optimizer_on", to_string(c.place)},
                          {"makespan_over_host", json_of(c.over_host)}});
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
