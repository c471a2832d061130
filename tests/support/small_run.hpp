#pragma once
// Small simulated runs with round numbers: at `one_byte_per_ns` a shard of 1 ms is a million bytes.

#include "actors/simulation/simulation.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hydra::test {

inline constexpr byte_rate one_byte_per_ns{1e9};

/// Bytes that take `d` at one byte per nanosecond.
constexpr byte_count bytes_of(duration d) { return byte_count{static_cast<std::uint64_t>(d.count())}; }

/// A device "sim:<i>" with memory for everything, a link of one byte per nanosecond and no latency.
device_info roomy_device(std::size_t i, double speed = 1.0);

/// Shards whose every visit takes `visit` and whose parameters take `copy` to move either way; boundaries are empty.
simulated_model even_model(const std::string& name, std::size_t shards, std::uint32_t steps, duration visit,
                           duration copy);

/// The models on as many roomy devices, under sharded-lrtf.
simulation_setup even_run(std::vector<simulated_model> models, std::size_t devices);

/// Runs in order. Throws std::runtime_error if the run hangs.
std::unique_ptr<simulation> finished(simulation_setup setup);

/// First prefetch to last update.
duration makespan(const simulation& s);

/// In the order of their start. `name`: "execute_shard"; `track`: "sim:0 compute", empty: any.
std::vector<span> spans_of(simulation& s, const std::string& name, const std::string& track = {});

/// How often the model is evaluated.
std::size_t evaluations_of(const simulated_model& m);

/// Every model has ended without fault after all its steps and evaluations; else what is wrong.
std::string unfinished(const simulation& s, const std::vector<simulated_model>& models);

/// Every unit of every model, from where it started, committed once, each after its predecessor; else what is wrong.
std::string out_of_order(simulation& s, const std::vector<simulated_model>& models,
                         const std::vector<model_checkpoint>& begins = {});

}  // namespace hydra::test
