#pragma once
// CONTROLLER: calls the user's callbacks, and decides which trials of a search go on.

#include "actors/protocol.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/run_services.hpp"
#include "actors/run/trial_gate.hpp"
#include "runtime/base/bytes.hpp"

#include <vector>

namespace hydra {

struct callback_set {
  std::vector<step_callback> steps;
  std::vector<evaluation_callback> evaluations;
  search_setup search{};
  duration record_limit{};  ///< decisions that cannot be recorded for so long halt the run; zero: no limit
  observations wanted() const { return {!steps.empty(), !evaluations.empty() || search.rule}; }
};
/// Null without callbacks and search. `detached`: on a thread of its own, because users' callbacks may block.
controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached);

}  // namespace hydra
