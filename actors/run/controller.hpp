#pragma once
// CONTROLLER: calls the user's callbacks.

#include "actors/protocol.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/run_services.hpp"

#include <vector>

namespace hydra {

struct callback_set {
  std::vector<step_callback> steps;
  std::vector<evaluation_callback> evaluations;
  observations wanted() const { return {!steps.empty(), !evaluations.empty()}; }
};
/// Null without callbacks. `detached`: on a thread of its own, because users' callbacks may block.
controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached);

}  // namespace hydra
