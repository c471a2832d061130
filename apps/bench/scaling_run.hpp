#pragma once
// One run of a scaling benchmark: how long it took, how busy its devices were, and whether its parameters are those of
// the other runs.

#include "apps/bench/bench_workload.hpp"

#include <map>
#include <string>

namespace hydra::apps {

struct scaling_run {
  double makespan = 0;     ///< seconds
  double bound = 0;        ///< seconds
  double utilisation = 0;  ///< of the time of all devices, the part in which they compute
};

scaling_run figures_of(const report& r);

/// The final parameters of models by name.
class known_parameters {
 public:
  /// Throws fault_error{internal}, beginning with `run`, if a model of that name has ended with other parameters
  /// before: devices, waves and policies may change times, never bits.
  void check(const report& r, const std::string& run);

 private:
  std::map<std::string, std::string> digests_;
};

}  // namespace hydra::apps
