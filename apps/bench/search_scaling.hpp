#pragma once
// Whether more nodes of a cluster make a search faster: trials by successive halving, which wait for each other at each
// rung, beside what that allows.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <vector>

namespace hydra::apps {

struct search_scaling_options {
  std::vector<int> nodes{1, 2, 4};  ///< of one device each; speed-ups are over the first
  int repeats = 3;
  std::uint32_t first = 16;         ///< steps to the first rung; half of the trials goes on at each
  bench_workload workload{
      .models = 32, .steps = 256, .layers = 7, .width = 128, .forward = std::chrono::milliseconds(4)};
};

struct search_scaling_cell {
  int nodes = 1;
  measurement speed_up{};    ///< over the first number of nodes, in the same repeat
  measurement possible{};    ///< bound of the first number of nodes / bound
  measurement over_bound{};  ///< makespan / bound
  measurement moves{};       ///< of trials between nodes
};

struct search_scaling_result {
  bench_plan plan;
  std::vector<search_scaling_cell> cells;
};

/// The bound: between two rungs, all steps of the trials that go on, divided by the nodes, but no less than those of
/// one trial; summed over the rungs, because none begins before the last one is decided. Throws fault_error{internal}
/// if decisions or parameters depend on the nodes.
search_scaling_result measure_search_scaling(const search_scaling_options& o);

std::string to_table(const search_scaling_result& r);
nlohmann::ordered_json json_of(const search_scaling_result& r);

}  // namespace hydra::apps
