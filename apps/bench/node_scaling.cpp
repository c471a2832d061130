#include "apps/bench/node_scaling.hpp"

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/cluster_forecast.hpp"
#include "actors/report/text_table.hpp"
#include "apps/bench/bench_cluster.hpp"
#include "apps/bench/scaling_run.hpp"
#include "apps/bench/scratch_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace hydra::apps {

namespace {

report checked(report r, known_parameters& parameters, const std::string& run) {
  if (!r.all_finished()) throw fault_error{fault_code::internal, "a model of the benchmark has failed"};
  parameters.check(r, run);
  return r;
}

report run_on(int nodes, const bench_workload& w, known_parameters& parameters) {
  return checked(run_on_nodes(nodes, w), parameters, fmt::format("{} nodes", nodes));
}

/// Seconds.
double predicted_on(int nodes, const bench_workload& w) {
  session s{{.seed = 7, .name = "bench", .log = verbosity::quiet}};
  fill(s, w);
  return seconds(predict({.models = s.estimates(),
                          .plan = [&s] { return s.simulated_plan(); },
                          .speeds = std::vector<double>(static_cast<std::size_t>(nodes), 1.0)})
                     .makespan);
}

/// Until a share of all steps is done.
void wait_for(cluster& c, double share, const bench_workload& w) {
  const double wanted = share * w.steps * w.models;
  for (double done = 0; done < wanted;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = 0;
    for (const model_now& m : c.status().models) done += m.steps;
  }
}

/// Seconds.
double join_in_the_middle(const bench_workload& w, known_parameters& parameters) {
  const scratch_folder scratch{"bench-nodes"};
  cluster c{cluster_work(w, scratch.path() / "run"), {}};
  const bench_node first{1, c.address(), scratch.path(), w};
  auto run = std::async(std::launch::async, [&] { return c.run(); });
  wait_for(c, 0.3, w);
  const bench_node second{2, c.address(), scratch.path(), w};
  const report r = checked(run.get(), parameters, "a second node that joins");
  return seconds(r.cluster.nodes.at(1).used.value());
}

void repeat(node_scaling_result& r, const bench_workload& w, known_parameters& parameters) {
  double first = 0;
  for (node_scaling_cell& cell : r.cells) {
    const double predicted = predicted_on(cell.nodes, w);
    const report run = run_on(cell.nodes, w, parameters);
    const scaling_run figures = figures_of(run);
    first = first > 0 ? first : figures.makespan;
    cell.speed_up.values.push_back(first / figures.makespan);
    cell.over_bound.values.push_back(figures.makespan / figures.bound);
    cell.predicted.values.push_back(predicted / figures.makespan);
    cell.moves.values.push_back(static_cast<double>(run.cluster.moves));
  }
  r.joins.values.push_back(join_in_the_middle(w, parameters));
}

}  // namespace

node_scaling_result measure_node_scaling(const node_scaling_options& o) {
  bench_workload w = o.workload;
  node_scaling_result r{.plan = plan_bench(w), .cells = {}};
  w.memory = r.plan.memory;
  r.step = r.plan.mean_unit * (2 * (w.layers + 1) - 1);
  for (const int n : o.nodes) r.cells.push_back({.nodes = n});
  known_parameters parameters;
  for (int i = 0; i < o.repeats; ++i) repeat(r, w, parameters);
  return r;
}

std::string to_table(const node_scaling_result& r) {
  text_table t{{{"nodes", alignment::right},
                {"speed-up median [min..max]", alignment::right},
                {"makespan/bound", alignment::right},
                {"simulated/run", alignment::right},
                {"moves", alignment::right}}};
  for (const node_scaling_cell& c : r.cells)
    t.add({std::to_string(c.nodes), to_string(c.speed_up), to_string(c.over_bound), to_string(c.predicted),
           fmt::format("{:.0f}", c.moves.median())});
  return heading(r.plan) + t.to_string() +
         fmt::format("\na second node that joins trains its first model after {} s; a step takes {}\n",
                     to_string(r.joins), hydra::to_string(r.step));
}

nlohmann::ordered_json json_of(const node_scaling_result& r) {
  nlohmann::ordered_json j{{"cells", nlohmann::ordered_json::array()}};
  for (const node_scaling_cell& c : r.cells)
    j["cells"].push_back({{"nodes", c.nodes},
                          {"speed_up", json_of(c.speed_up)},
                          {"makespan_over_bound", json_of(c.over_bound)},
                          {"simulated_over_run", json_of(c.predicted)},
                          {"moves", json_of(c.moves)}});
  j["joins_s"] = json_of(r.joins);
  j["step_s"] = seconds(r.step);
  return j;
}

}  // namespace hydra::apps
