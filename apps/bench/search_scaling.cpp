#include "apps/bench/search_scaling.hpp"

#include "actors/report/text_table.hpp"
#include "actors/selection/rungs.hpp"
#include "apps/bench/bench_cluster.hpp"
#include "apps/bench/scaling_run.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace hydra::apps {

namespace {

constexpr std::uint32_t factor = 2;

search_settings search_of(const search_scaling_options& o) {
  search_settings s{.kind = search_kind::halving, .steps = o.workload.steps, .first = o.first, .factor = factor};
  for (int i = 0; i < o.workload.models; ++i) s.trials.push_back({fmt::format("model-{}", i)});
  return s;
}

/// By trial and steps.
using decisions = std::map<std::pair<std::string, std::uint32_t>, trial_decision>;

struct search_run {
  report of;
  decisions made;
};

search_run run_search(int nodes, const search_scaling_options& o) {
  search_run run;
  const auto take = [&run](const search_record& r) {
    for (const trial_decision& d : r.decisions)
      if (d.verdict != trial_verdict::wait) run.made.emplace(std::pair{d.trial, d.steps}, d);
  };
  run.of = run_on_nodes(nodes, o.workload, search_of(o), {.record = take});
  if (std::ranges::any_of(run.of.models, [](const model_report& m) { return m.status == model_status::failed; }))
    throw fault_error{fault_code::internal, "a trial of the benchmark has failed"};
  return run;
}

/// Seconds; `step`: of a trial alone.
double bound_on(int nodes, const search_scaling_options& o, double step) {
  double sum = 0;
  int trials = o.workload.models;
  std::uint32_t before = 0;
  for (const std::uint32_t rung : rung_steps(o.first, factor, o.workload.steps)) {
    sum += step * (rung - before) * std::max(static_cast<double>(trials) / nodes, 1.0);
    trials = (trials + static_cast<int>(factor) - 1) / static_cast<int>(factor);
    before = rung;
  }
  return sum;
}

/// The smallest that the run has seen.
double step_of(const report& one_node) {
  double steps = 0;
  for (const model_report& m : one_node.models) steps += m.steps;
  return seconds(one_node.bound()) / steps;
}

void repeat(search_scaling_result& r, const search_scaling_options& o, known_parameters& parameters, decisions& known) {
  double first = 0, step = 0, least = 0;
  for (search_scaling_cell& cell : r.cells) {
    const search_run run = run_search(cell.nodes, o);
    parameters.check(run.of, fmt::format("{} nodes", cell.nodes));
    if (known.empty()) known = run.made;
    if (run.made != known)
      throw fault_error{fault_code::internal, fmt::format("{} nodes: other decisions of the search", cell.nodes)};
    const double makespan = seconds(run.of.makespan);
    step = step > 0 ? step : step_of(run.of);
    const double bound = bound_on(cell.nodes, o, step);
    first = first > 0 ? first : makespan;
    least = least > 0 ? least : bound;
    cell.speed_up.values.push_back(first / makespan);
    cell.possible.values.push_back(least / bound);
    cell.over_bound.values.push_back(makespan / bound);
    cell.moves.values.push_back(static_cast<double>(run.of.cluster.moves));
  }
}

}  // namespace

search_scaling_result measure_search_scaling(const search_scaling_options& o) {
  search_scaling_options with = o;
  with.workload.evaluate_every = o.first;
  search_scaling_result r{.plan = plan_bench(with.workload), .cells = {}};
  with.workload.memory = r.plan.memory;
  for (const int n : o.nodes) r.cells.push_back({.nodes = n});
  known_parameters parameters;
  decisions known;
  for (int i = 0; i < o.repeats; ++i) repeat(r, with, parameters, known);
  return r;
}

std::string to_table(const search_scaling_result& r) {
  text_table t{{{"nodes", alignment::right},
                {"speed-up median [min..max]", alignment::right},
                {"possible", alignment::right},
                {"makespan/bound", alignment::right},
                {"moves", alignment::right}}};
  for (const search_scaling_cell& c : r.cells)
    t.add({std::to_string(c.nodes), to_string(c.speed_up), fmt::format("{:.3f}", c.possible.median()),
           to_string(c.over_bound), fmt::format("{:.0f}", c.moves.median())});
  return heading(r.plan) + t.to_string();
}

nlohmann::ordered_json json_of(const search_scaling_result& r) {
  nlohmann::ordered_json j{{"cells", nlohmann::ordered_json::array()}};
  for (const search_scaling_cell& c : r.cells)
    j["cells"].push_back({{"nodes", c.nodes},
                          {"speed_up", json_of(c.speed_up)},
                          {"possible", json_of(c.possible)},
                          {"makespan_over_bound", json_of(c.over_bound)},
                          {"moves", json_of(c.moves)}});
  return j;
}

}  // namespace hydra::apps
