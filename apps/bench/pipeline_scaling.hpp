#pragma once
// Pipelines: how long the devices of one model stand idle, beside the textbook's formula.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra::apps {

struct pipeline_variant {
  std::string policy{};  ///< empty: the default
  std::uint32_t waves = 1;
  std::uint32_t shards_per_device = 1;
};

/// Naive, GPipe, 1F1B, interleaved and the default policy, with 16 waves except the first.
const std::vector<pipeline_variant>& pipeline_variants();

struct pipeline_scaling_options {
  std::vector<pipeline_variant> variants = pipeline_variants();
  int repeats = 3;
  /// Two layers for each device, one shard or two. Memory and link are not limited.
  bench_workload workload{.devices = 8,
                          .steps = 6,
                          .layers = 15,
                          .width = 64,
                          .micro_batches = 16,
                          .equal_stages = true};
};

struct pipeline_scaling_row {
  pipeline_variant variant{};
  measurement seconds{};     ///< makespan
  measurement bubble{};      ///< 1 - utilisation
  measurement over_bound{};  ///< makespan / bound
};

struct pipeline_scaling_result {
  int devices = 1;
  std::vector<pipeline_scaling_row> rows;
};

/// (D - 1) / (v W + D - 1) for D devices, W waves and v shards on each device: the idle part of a step with equal
/// stages and without transfers (Huang et al. 2019, 2.3; with v > 1 Narayanan et al. 2021, 2.2).
double bubble_formula(int devices, const pipeline_variant& v);

/// Throws fault_error{internal} if the parameters depend on policy, waves or cuts.
pipeline_scaling_result measure_pipeline_scaling(const pipeline_scaling_options& o);

std::string to_table(const pipeline_scaling_result& r);
nlohmann::ordered_json json_of(const pipeline_scaling_result& r);

}  // namespace hydra::apps
