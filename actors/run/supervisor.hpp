#pragma once
// SUPERVISOR: starts and ends a run, and handles the death of actors.

#include "actors/protocol.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/protocol/run_services.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

class checkpoint_store;

/// Where models are saved, and when (in addition to their end and the end of a run that is halted).
struct checkpoint_setup {
  checkpoint_store* store = nullptr;     ///< null: not saved
  std::uint32_t every_steps = 0;         ///< 0: not by steps
  duration every{};                      ///< zero: not by time
};

struct supervisor_setup {
  std::vector<model_description> models;  ///< position = model id
  std::set<model_id> waiting;             ///< of these, those that wait for memory
  bool begin_paused = false;              ///< these are paused until they are resumed
  std::vector<std::string> devices{};     ///< their names; position = device id
  std::vector<model_joined> begins{};     ///< where each model stands at the start
  duration callback_limit{};       ///< zero: no limit for callbacks
  duration stall_limit{};          ///< of the end of a run without REPORTER; zero: no limit
  checkpoint_setup checkpoints;    ///< of models that join
  std::function<void()> halted{};  ///< as run_setup
};
/// Waits for actors_spawned, then starts the run.
supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services,
                                  const supervisor_setup& setup);

}  // namespace hydra
