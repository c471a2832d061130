#include "apps/bench/sharing.hpp"

#include "actors/report/text_table.hpp"
#include "apps/bench/scaling_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

double loaded_mebibytes(const report& r) {
  std::uint64_t sum = 0;
  for (const device_report& d : r.devices) sum += d.h2d_bytes.value();
  return static_cast<double>(sum) / (1 << 20);
}

void run_cell(sharing_cell& cell, bench_workload w, known_parameters& parameters) {
  w.link = cell.link;
  w.ablation.share = cell.share;
  const report r = run_to_its_end(w);
  parameters.check(r, fmt::format("promote/unit {:g}, {}", cell.ratio, cell.share ? "shared" : "not shared"));
  cell.over_compute.values.push_back(seconds(r.makespan) / seconds(r.limits.work));
  cell.over_bound.values.push_back(seconds(r.makespan) / seconds(r.bound()));
  cell.loaded.values.push_back(loaded_mebibytes(r));
  cell.host = r.host_peak;
}

}  // namespace

sharing_result measure_sharing(const sharing_options& o) {
  bench_workload w = o.workload;
  sharing_result r{plan_bench(w), {}};
  w.memory = r.plan.memory;
  for (const double ratio : o.ratios)
    for (const bool share : {true, false})
      r.cells.push_back({.ratio = ratio, .link = link_for(r.plan, ratio), .share = share});
  known_parameters parameters;
  for (int i = 0; i < o.repeats; ++i)
    for (sharing_cell& cell : r.cells) run_cell(cell, w, parameters);
  return r;
}

std::string to_table(const sharing_result& r) {
  text_table t{{{"promote/unit", alignment::right},
                {"link", alignment::right},
                {"bases"},
                {"makespan/compute median [min..max]", alignment::right},
                {"makespan/bound", alignment::right},
                {"loaded MiB", alignment::right},
                {"host peak", alignment::right}}};
  for (const sharing_cell& c : r.cells)
    t.add({fmt::format("{:g}", c.ratio), to_string(c.link), c.share ? "one" : "one each", to_string(c.over_compute),
           to_string(c.over_bound), fmt::format("{:.0f}", c.loaded.median()), to_string(c.host)});
  return heading(r.plan) + t.to_string();
}

nlohmann::ordered_json json_of(const sharing_result& r) {
  nlohmann::ordered_json j{{"cells", nlohmann::ordered_json::array()}};
  for (const sharing_cell& c : r.cells)
    j["cells"].push_back({{"promote_over_unit", c.ratio},
                          {"share", c.share},
                          {"makespan_over_compute", json_of(c.over_compute)},
                          {"makespan_over_bound", json_of(c.over_bound)},
                          {"loaded_mebibytes", json_of(c.loaded)},
                          {"host_peak_bytes", c.host.value()}});
  return j;
}

}  // namespace hydra::apps
