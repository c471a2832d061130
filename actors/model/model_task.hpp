#pragma once
// MODEL TASK: the units of one model, in order.

#include "actors/protocol.hpp"
#include "actors/protocol/events.hpp"
#include "actors/protocol/run_services.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

/// When a task asks for a checkpoint of its model.
struct checkpoint_times {
  std::uint32_t every_steps = 0;   ///< 0: not by steps
  duration every{};                ///< zero: not by time
  duration first{};                ///< staggered between models
};

struct task_setup {
  model_id id;
  sharded_model_ptr what;
  model_standing standing;         ///< the position from which it continues
  std::vector<version_index> versions;   ///< per shard; empty: from the start
  std::uint32_t first_attempt = 0;  ///< of its units: those of an earlier task of the model, before a pause, had others
  checkpoint_times checkpoints;
  scheduler_actor scheduler;
  memory_actor memory;
  data_actor data;
  reporter_actor reporter;
  controller_actor controller;     ///< null: nothing is observed
  observations observed{};         ///< by it
  checkpoint_actor checkpointer;   ///< null: nothing is saved
  supervisor_actor supervisor;
};
task_actor spawn_model_task(caf::actor_system& system, const run_services& services, const task_setup& setup);

}  // namespace hydra
