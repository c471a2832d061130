#pragma once
// The gain of updating shards on their device: makespan over that of a run whose host updates everything.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct updates_options {
  std::vector<int> models{1, 4};
  std::vector<double> ratios{0.25, 1};  ///< mean promote time / mean unit time
  int repeats = 3;
  bench_workload workload{.steps = 8};  ///< except models, link and place
};

struct updates_cell {
  int models = 1;
  double ratio = 0;
  byte_rate link{};
  optimizer_place place = optimizer_place::automatic;
  measurement over_host;  ///< over the run with updates on the host in the same repeat
};

struct updates_result {
  bench_plan plan;  ///< for the place `device`, which needs the most memory
  std::vector<updates_cell> cells;
};

updates_result measure_updates(const updates_options& o);

std::string to_table(const updates_result& r);
std::string to_json(const updates_result& r, const machine_description& on);

}  // namespace hydra::apps
