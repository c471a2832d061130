#pragma once
// ADMISSION: prepares models that join a run under way.

#include "actors/protocol.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/protocol/run_services.hpp"

namespace hydra {

/// Null without a model maker. `detached`: on a thread of its own, because a pilot blocks.
admission_actor spawn_admission(caf::actor_system& system, const run_services& services, model_maker make,
                                const supervisor_actor& supervisor, bool detached);

}  // namespace hydra
