#pragma once
// The workload of several benchmarks: equal models, each cut into one-layer shards, on devices with memory for one unit
// that computes, one that is staged and one whose outputs are written back. Parameters, copies and results are real,
// but a layer takes a fixed time (paced_layer): the runtime is measured, not how the devices' threads share the host's
// cores.

#include "actors/session/session.hpp"

#include <cstdint>
#include <string>

namespace hydra::apps {

struct bench_workload {
  int devices = 1;
  int models = 1;
  std::uint32_t steps = 4;
  std::int64_t layers = 6;  ///< hidden ones
  std::int64_t width = 384;
  std::uint32_t batch_size = 16;
  std::uint32_t micro_batches = 1;
  parallel_options parallel{};
  std::uint32_t pieces = 1;  ///< of each hidden layer; above 1 the planner cuts shards
  bool side_by_side = false;
  std::int64_t adapter_rank = 0;      ///< of adapters on all layers but the output layer; 0: none
  std::int64_t layers_per_shard = 1;  ///< divides the number of layers, the output layer included
  duration forward = std::chrono::milliseconds(2);  ///< of a layer and micro-batch; backward visits take three times as
                                                    ///< long
  bool equal_stages = false;  ///< the output layer takes longer, so that the one visit of its shard takes as long as
                              ///< the two of any other
  bool paced_output = true;   ///< else the output layer takes no longer than it computes
  byte_rate link{};     ///< not emulated if zero
  byte_count memory{};  ///< 0: unlimited
  ablation_options ablation{};
  std::string policy{};       ///< empty: the default
  std::uint32_t evaluate_every = 0;  ///< steps; 0: after the last one
  std::int64_t validation_samples = 1;
};

/// Adds devices, models and policy.
void fill(session& s, const bench_workload& w);

/// Trains without output, progress or log.
report run_bench(const bench_workload& w);
/// Trains in the same way; throws fault_error{internal} if a model has failed.
report run_to_its_end(const bench_workload& w);

/// What its plan predicts, by the times of a pilot.
forecast predict_bench(const bench_workload& w);

/// What a pilot measures of a workload.
struct bench_plan {
  byte_count least;         ///< the smallest budget that suffices
  byte_count memory;        ///< twice as much, so that outputs can be written back meanwhile
  duration mean_unit{};     ///< over the units of a step
  byte_count mean_promote;  ///< parameters that a unit reads, on average
};

bench_plan plan_bench(const bench_workload& w);

/// "device memory 8.5 MiB, mean unit 4.6 ms, mean promote 534.2 KiB" and an empty line: the heading of a table.
std::string heading(const bench_plan& p);

/// The link on which the mean promote takes `ratio` times as long as the mean unit computes.
byte_rate link_for(const bench_plan& p, double ratio);

}  // namespace hydra::apps
