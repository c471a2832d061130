#pragma once
// How well transfers hide behind computation: makespan / bound on one device, from one model to several, from a fast
// link to a slow one, with little memory and with more.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct overlap_options {
  std::vector<int> models{1, 2, 4, 8};
  std::vector<double> ratios{0.1, 0.25, 0.45, 1, 2, 4};  ///< mean promote time / mean unit time
  std::vector<unsigned> memory{1, 2, 3};                 ///< of the device, in the smallest that suffices
  int repeats = 3;
  bench_workload workload{};  ///< except the number of models and the link
};

struct overlap_cell {
  byte_count memory{};
  int models = 1;
  double ratio = 0;
  byte_rate link{};
  measurement makespan_over_bound{};
  measurement over_mean_bound{};  ///< the makespan over the bound at the mean times of the run's units
  measurement simulated{};        ///< makespan over bound as the plan of the same repeat predicts them
};

struct overlap_result {
  bench_plan plan;
  std::vector<overlap_cell> cells;  ///< memory, then models, then ratios
};

overlap_result measure_overlap(const overlap_options& o);

std::string to_table(const overlap_result& r);
nlohmann::ordered_json json_of(const overlap_result& r);

}  // namespace hydra::apps
