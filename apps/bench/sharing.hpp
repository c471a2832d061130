#pragma once
// What one base for many models gains where transfers bind: makespan / compute bound of adapted models whose promotes
// take as long as their units, or longer, with a base of their own each and with one for all.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct sharing_options {
  std::vector<double> ratios{1, 2};  ///< mean promote time / mean unit time
  int repeats = 3;
  bench_workload workload{
      .devices = 2, .models = 12, .steps = 6, .layers = 7, .adapter_rank = 8, .forward = std::chrono::milliseconds(4)};
};

struct sharing_cell {
  double ratio = 0;
  byte_rate link{};
  bool share = true;
  measurement over_compute{};  ///< makespan / what the devices must compute, spread evenly
  measurement over_bound{};    ///< makespan / lower bound
  measurement loaded{};        ///< MiB that all devices load
  byte_count host{};           ///< peak of the last repeat
};

struct sharing_result {
  bench_plan plan;
  std::vector<sharing_cell> cells;  ///< ratios, then shared or not
};

/// Throws fault_error{internal} if a model's parameters depend on link or sharing.
sharing_result measure_sharing(const sharing_options& o);

std::string to_table(const sharing_result& r);
nlohmann::ordered_json json_of(const sharing_result& r);

}  // namespace hydra::apps
