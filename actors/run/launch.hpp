#pragma once
// Spawns the actors of a run.

#include "actors/model/model_task.hpp"
#include "actors/protocol.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/report/reporter.hpp"
#include "actors/run/run_setup.hpp"

namespace hydra {

/// Spawns the MODEL TASK of a model in the state of `entry`; `actors`: the other actors of the run.
task_setup task_setup_of(model_id id, const model_entry& entry, const actors_spawned& actors);

/// Spawns all actors of a run. `setup` may be destroyed afterwards, but not what it points to. `sink`
/// gets the record when all actors that use a device or the executor have ended, in order or because one of them has
/// died.
actors_spawned launch(caf::actor_system& system, run_setup setup, record_sink sink);

/// Starts the run of these actors.
void start_run(const actors_spawned& actors);

/// Ends all actors that have not ended yet; messages still in their mailboxes are dropped.
void end_actors(const actors_spawned& actors);

}  // namespace hydra
