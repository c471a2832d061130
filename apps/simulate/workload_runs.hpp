#pragma once
// Plans a workload file and runs its actors in virtual time.

#include "apps/simulate/comparison.hpp"
#include "apps/simulate/policy_list.hpp"
#include "apps/workload/workload.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// Nodes of a cluster, each with the devices of the workload.
struct simulated_nodes {
  std::vector<double> speeds{};  ///< of their devices, over those of the workload; none: no cluster is simulated
  network_rates network{};
};

/// "1,1,0.5". Throws fault_error{bad_input} that names the option.
std::vector<double> parse_speeds(const std::string& text);

/// One pilot for all policies, and for the nodes. Throws what session::plan() throws.
comparison simulate_workload(const workload& w, const std::vector<listed_policy>& policies,
                             const simulated_nodes& nodes);

}  // namespace hydra::apps
