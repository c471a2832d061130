#pragma once
// Whether more nodes of a cluster make several models faster: speed-up over one node, beside what the bound allows.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct node_scaling_options {
  std::vector<int> nodes{1, 2, 4};  ///< of one device each; speed-ups are over the first
  int repeats = 3;
  bench_workload workload{
      .models = 12, .steps = 40, .layers = 7, .width = 128, .forward = std::chrono::milliseconds(4)};
};

struct node_scaling_cell {
  int nodes = 1;
  measurement speed_up{};    ///< over the first number of nodes, in the same repeat
  measurement over_bound{};  ///< makespan / bound
  measurement predicted{};   ///< makespan as `hydra simulate --nodes` predicts it / makespan
  measurement moves{};       ///< models that were trained on more than one node
};

struct node_scaling_result {
  bench_plan plan;
  std::vector<node_scaling_cell> cells;
  measurement joins{};  ///< seconds from the joining of a second node in the middle of a run to its first model
  duration step{};      ///< of a model alone
};

/// Throws fault_error{internal} if a model's parameters depend on the nodes.
node_scaling_result measure_node_scaling(const node_scaling_options& o);

std::string to_table(const node_scaling_result& r);
nlohmann::ordered_json json_of(const node_scaling_result& r);

}  // namespace hydra::apps
