#pragma once
// Simulates a finished run again with the times that it has recorded.

#include "apps/simulate/comparison.hpp"
#include "apps/simulate/policy_list.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace hydra::apps {

struct recorded_choice {
  std::vector<listed_policy> policies{};  ///< none: the run's own, with its options
  std::optional<std::uint64_t> seed{};    ///< for policies that choose by chance; nothing: the run's
};

/// `run` is a run folder or the trace.json in it. Reads report.json, trace.json, plan.json and, for the policy and the
/// ablation, workload.toml. Every unit, copy and update takes as long as recorded; one that the run did not do (a copy
/// that was a hit) takes the mean of its class. Throws fault_error{bad_input}: a file is missing or damaged, the run
/// was interrupted, resumed, or lost a device or a model, or its policy does not exist.
comparison simulate_recorded(const std::filesystem::path& run, const recorded_choice& wanted,
                             policy_registry& registry);

}  // namespace hydra::apps
