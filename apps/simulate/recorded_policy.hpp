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

/// By the workload.toml in a run's folder; plug-ins that it names are loaded if they are still there. Without that file,
/// by its report. Throws fault_error{bad_input}: a plug-in or policy that is not there.
recorded_policy policy_of_run(const std::filesystem::path& folder, const report& r, policy_registry& registry);

}  // namespace hydra::apps
