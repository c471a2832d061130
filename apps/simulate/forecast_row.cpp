#include "apps/simulate/forecast_row.hpp"

namespace hydra::apps {

policy_row row_of(const std::string& policy, const forecast& f) {
  return {.policy = policy,
          .makespan = f.makespan,
          .compute_end = f.compute_end,
          .loads = f.loads,
          .hits = f.hits,
          .decisions = f.decisions,
          .replacements = f.replacements};
}

}  // namespace hydra::apps
