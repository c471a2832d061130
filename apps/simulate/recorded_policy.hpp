#pragma once
// The policy that a run was started with: its name, its options and its seed.

#include "actors/report/report.hpp"
#include "apps/simulate/policy_list.hpp"

#include <cstdint>
#include <filesystem>

namespace hydra::apps {

struct recorded_policy {
  listed_policy policy;
  std::uint64_t seed = 0;
};

/// Read from workload.toml in the run's folder; without that file, from the report. Plug-ins that the folder names are
/// not loaded: a policy of one of them is that of the plug-in with the same name in the registry. Throws
/// fault_error{bad_input}: there is no such policy.
recorded_policy policy_of_run(const std::filesystem::path& folder, const report& r, policy_registry& registry);

}  // namespace hydra::apps
