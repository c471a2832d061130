#pragma once
// The contribution of each part of the system: the makespan with one part switched off, over the makespan of the full
// system.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct ablation_variant {
  std::string name;
  ablation_options switches;
};

/// The first variant is the full system.
const std::vector<ablation_variant>& ablation_variants();

struct ablation_bench_options {
  int repeats = 3;
  double ratio = 0.5;  ///< mean promote time / mean unit time, sets the link
  bench_workload workload{.devices = 2, .models = 4, .steps = 10};
};

struct ablation_row {
  std::string name;
  measurement seconds;
  measurement over_full;  ///< makespan / that of the full system in the same round
};

struct ablation_result {
  std::vector<ablation_row> rows;
  byte_rate link{};
};

/// Every round runs every variant once. Throws fault_error{internal} if a variant's parameters differ from the full
/// system's: switching a part off may cost time, never bits.
ablation_result measure_ablation(const ablation_bench_options& o);

std::string to_table(const ablation_result& r);
nlohmann::ordered_json json_of(const ablation_result& r);

}  // namespace hydra::apps
