#pragma once
// A run that has been, simulated again with the times that it has recorded.

#include "apps/simulate/comparison.hpp"
#include "apps/simulate/policy_list.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace hydra::apps {

/// Of a run folder or the trace.json in it: report.json, trace.json, plan.json and, for what was switched off,
/// workload.toml. Without policies, the run's own. Every unit, copy and update takes as long as it did; what the run
/// did not do (a copy that was a hit) takes its class's mean. Throws fault_error{bad_input}: a file is missing or
/// damaged, the run was interrupted, resumed, or lost a device or a model.
comparison simulate_recorded(const std::filesystem::path& run, std::vector<listed_policy> policies, std::uint64_t seed);

}  // namespace hydra::apps
