#pragma once
// How well the simulation of a run with the times of its own trace predicts the run's makespan.

#include "apps/bench/measurement.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

struct replay_options {
  int repeats = 3;
  std::filesystem::path workload{"apps/workloads/quickstart.toml"};
  std::filesystem::path folder{"bench-replay"};  ///< for the runs, removed at the end
};

struct replay_result {
  std::string workload;
  measurement run;                 ///< makespans, in seconds
  measurement simulated;
  measurement simulated_over_run;  ///< of each run and its own simulation
};

replay_result measure_replay(const replay_options& o);

std::string to_table(const replay_result& r);
std::string to_json(const replay_result& r, const machine_description& on);

}  // namespace hydra::apps
