#pragma once
// What checkpoints cost: the makespan of a workload that is saved every minute, over that of the same without.

#include "apps/bench/measurement.hpp"

#include <cstdint>
#include <filesystem>

namespace hydra::apps {

struct checkpoints_bench_options {
  int repeats = 3;
  std::filesystem::path workload = "apps/workloads/quickstart.toml";
  std::filesystem::path folder = "runs/bench-checkpoints";  ///< made for each run, removed after it; must not exist
  double every_minutes = 1;                                 ///< of each model
};

struct checkpoints_result {
  measurement without;    ///< makespan, seconds
  measurement with;       ///< the same of the run that is saved
  measurement ratio;      ///< with / without, in each pair
  measurement saved;      ///< checkpoints during the run and at the ends of models
  double bytes = 0;       ///< of all checkpoints that one run has kept
};

/// Pairs of runs, which alternate in whether the run with checkpoints is first. Throws fault_error{bad_input} if the
/// workload cannot be read or the folder exists, {internal} if the two results differ in a bit.
checkpoints_result measure_checkpoints(const checkpoints_bench_options& o);

std::string to_table(const checkpoints_result& r);
std::string to_json(const checkpoints_result& r, const machine_description& on);

}  // namespace hydra::apps
