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

/// Read from workload.toml in the run's folder; plug-ins that it names are loaded if they still exist. Without that
/// file, from the report. Throws fault_error{bad_input}: a plug-in or policy does not exist.
recorded_policy policy_of_run(const std::filesystem::path& folder, const report& r, policy_registry& registry);

}  // namespace hydra::apps
