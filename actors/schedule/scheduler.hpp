#pragma once
// SCHEDULER: decides which unit is next, by asking a policy.

#include "actors/policy/device_watch.hpp"
#include "actors/policy/policy.hpp"
#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"

#include <functional>
#include <memory>

namespace hydra {

class advised_policy;

/// Makes the sharded-lrtf that replaces a policy that fails.
using policy_maker = std::function<std::unique_ptr<policy>()>;

/// A running policy actor. Null: the policy object decides itself.
struct running_policy_actor {
  policy_actor actor;
  advised_policy* asks = nullptr;        ///< owned by the policy of the scheduler
  duration limit{};
  bool outlives_run = false;
  bool apart = false;  ///< in another actor system: SCHEDULER has a thread of its own, so that neither
                       ///< system's workers run actors of the other one
};

struct scheduler_setup {
  std::unique_ptr<policy> chosen;
  running_policy_actor advice;
  watch_limits watch;
  reporter_actor reporter;
  supervisor_actor supervisor;
  policy_maker stand_in{};
  bool built_in = false;
};
scheduler_actor spawn_scheduler(caf::actor_system& system, const run_services& services, scheduler_setup setup);

}  // namespace hydra
