#pragma once
// Plans a workload file and runs its actors in virtual time.

#include "apps/simulate/comparison.hpp"
#include "apps/simulate/policy_list.hpp"
#include "apps/workload/workload.hpp"

#include <vector>

namespace hydra::apps {

/// One pilot for all policies. Throws what session::plan() throws.
comparison simulate_workload(const workload& w, const std::vector<listed_policy>& policies);

}  // namespace hydra::apps
