#pragma once
// The jobs that benchmarks run: equal models, each cut into one-layer shards, on devices with room for a unit that
// computes, one that is staged and one that lands. Parameters, copies and results are real, but a layer takes a fixed time
// (paced_layer): what is measured is the runtime, not how the devices' threads share the host's cores.

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
  duration forward = std::chrono::milliseconds(2);  ///< of a layer; backward visits take three times as long
  byte_rate link{};     ///< not emulated if zero
  byte_count memory{};  ///< 0: as much as one likes
  ablation_options ablation{};
  optimizer_place optimizer_on = optimizer_place::host;
};

/// Trains without output, progress or log.
report run_bench(const bench_workload& w);
/// The same; throws fault_error{internal} if a model has failed.
report run_to_its_end(const bench_workload& w);

/// What a pilot tells of a workload.
struct bench_plan {
  byte_count least;         ///< the smallest budget that suffices
  byte_count memory;        ///< twice as much: room for what lands beside what computes and what is staged
  duration mean_unit{};     ///< over the units of a step
  byte_count mean_promote;  ///< parameters that a unit reads, on average
};

bench_plan plan_bench(const bench_workload& w);

/// "device memory 8.5 MiB, mean unit 4.6 ms, mean promote 534.2 KiB", and an empty line: what stands above a table.
std::string heading(const bench_plan& p);

/// The link on which the mean promote takes `ratio` times as long as the mean unit computes.
byte_rate link_for(const bench_plan& p, double ratio);

}  // namespace hydra::apps
