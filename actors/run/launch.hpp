#pragma once
// Makes a run from its actors.

#include "actors/model/model_task.hpp"
#include "actors/protocol.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/report/reporter.hpp"
#include "actors/run/run_setup.hpp"

namespace hydra {

/// Of a model that begins as `entry` says, among this crew.
task_setup task_setup_of(model_id id, const model_entry& entry, const actors_spawned& actors);

/// Spawns all actors of a run and starts it. `setup` may be dropped afterwards, but not what it points to. `sink` gets the
/// record when all actors have ended that use a device or the executor, in order or because one of them has died.
actors_spawned launch(caf::actor_system& system, run_setup setup, record_sink sink);

/// Ends all that are there and have not ended, whatever they still have to do.
void end_actors(const actors_spawned& actors);

}  // namespace hydra
