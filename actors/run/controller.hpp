#pragma once
// CONTROLLER: calls the user's callbacks, and decides which trials of a search go on.

#include "actors/protocol.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/run_services.hpp"
#include "actors/run/trial_gate.hpp"
#include "runtime/base/bytes.hpp"

namespace hydra {

struct callback_set {
  run_callbacks callbacks;
  search_setup search{};
  duration record_limit{};  ///< decisions that cannot be recorded for so long halt the run; zero: no limit
  observations wanted() const {
    auto all = callbacks.observed();
    all.evaluations = all.evaluations || search.rule;
    return all;
  }
};

/// Null without callbacks and search. `detached`: on a thread of its own, because users' callbacks may block.
controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached);

}  // namespace hydra
