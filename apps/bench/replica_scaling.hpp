#pragma once
// Whether replicas make one model faster: speed-up over one device that trains it without replicas.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra::apps {

struct replica_scaling_options {
  std::vector<std::uint32_t> replicas{1, 2, 4, 8};
  std::vector<double> ratios{0.03125, 0.25};  ///< mean promote time / mean unit time without replicas
  int repeats = 3;
  /// Memory is not limited: every device may keep all parameters.
  bench_workload workload{.devices = 8,
                          .steps = 6,
                          .layers = 7,
                          .width = 128,
                          .batch_size = 16,
                          .micro_batches = 16};
};

struct replica_scaling_cell {
  double ratio = 0;
  byte_rate link{};
  std::uint32_t replicas = 1;
  measurement speed_up{};     ///< over one device without replicas on the same link, in the same repeat
  measurement over_bound{};   ///< makespan / bound
  measurement utilisation{};
};

struct replica_scaling_result {
  int devices = 1;
  bench_plan plan;          ///< without replicas
  std::vector<replica_scaling_cell> cells;  ///< ratios, then replicas
};

/// Throws fault_error{internal} if the parameters depend on devices or link.
replica_scaling_result measure_replica_scaling(const replica_scaling_options& o);

std::string to_table(const replica_scaling_result& r);
nlohmann::ordered_json json_of(const replica_scaling_result& r);

}  // namespace hydra::apps
