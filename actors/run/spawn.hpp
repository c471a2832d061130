#pragma once
// Factories of all actors, and the one function that builds a run from them. Only this header, caf_version.hpp and the
// actors themselves know CAF's spelling of actor creation.

#include "actors/protocol.hpp"
#include "actors/run/run_setup.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace hydra {

/// A policy actor that runs. Null: the policy decides itself.
struct adviser {
  policy_actor actor;
  advised_policy* asks = nullptr;        ///< owned by the policy of the scheduler
  duration limit{};
  bool outlives_run = false;
  bool apart = false;                    ///< in another actor system: SCHEDULER has a thread of its own, so that neither
                                         ///< system's workers run actors of the other one
};

struct scheduler_setup {
  std::unique_ptr<policy> chosen;
  adviser advice;
  watch_limits watch;
  reporter_actor reporter;
  supervisor_actor supervisor;
  policy_maker stand_in{};
  bool built_in = false;
};
scheduler_actor spawn_scheduler(caf::actor_system& system, const run_services& services, scheduler_setup setup);

optimizer_actor spawn_optimizer(caf::actor_system& system, const run_services& services);

struct memory_setup {
  scheduler_actor scheduler;
  optimizer_actor optimizer;
  reporter_actor reporter;
  supervisor_actor supervisor;
};
memory_actor spawn_memory_manager(caf::actor_system& system, const run_services& services, const memory_setup& setup);

struct device_setup {
  device_id id;
  device* machine = nullptr;
  pipeline_options pipeline;
  scheduler_actor scheduler;
  memory_actor memory;
  reporter_actor reporter;
};
device_actor spawn_device(caf::actor_system& system, const run_services& services, const device_setup& setup);

/// When a task asks for a checkpoint of its model.
struct checkpoint_times {
  std::uint32_t every_steps = 0;   ///< 0: not by steps
  duration every{};                ///< zero: not by time
  duration first{};                ///< models take turns
};

struct task_setup {
  model_id id;
  sharded_model_ptr what;
  model_standing standing;         ///< where it begins
  std::vector<version_index> versions;   ///< with these; empty: from the start
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
/// Of a model that begins as `entry` says, among this crew.
task_setup task_setup_of(model_id id, const model_entry& entry, const crew_assembled& crew);
task_actor spawn_model_task(caf::actor_system& system, const run_services& services, const task_setup& setup);

/// `detached`: on a thread of its own, because reading blocks.
data_actor spawn_data(caf::actor_system& system, const run_services& services, const std::vector<model_entry>& models,
                      const memory_actor& memory, bool detached);

struct callback_set {
  std::vector<step_callback> steps;
  std::vector<evaluation_callback> evaluations;
  observations wanted() const { return {!steps.empty(), !evaluations.empty()}; }
};
/// Null without callbacks. `detached`: on a thread of its own, because users' callbacks may block.
controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  callback_set callbacks, const supervisor_actor& supervisor, bool detached);

/// Null without a maker. `detached`: on a thread of its own, because a pilot blocks.
recruiter_actor spawn_recruiter(caf::actor_system& system, const run_services& services, model_maker make,
                                const supervisor_actor& supervisor, bool detached);

struct checkpointer_setup {
  checkpoint_store* store = nullptr;
  memory_actor memory;
  optimizer_actor optimizer;
  reporter_actor reporter;
};
/// Null without a store. `detached`: on a thread of its own, because writing blocks.
checkpoint_actor spawn_checkpointer(caf::actor_system& system, const run_services& services,
                                    const checkpointer_setup& setup, bool detached);

/// Everything a run was asked to produce.
using record_sink = std::function<void(run_record)>;

struct reporter_setup {
  std::vector<sharded_model_ptr> models;
  std::vector<model_standing> standing_before;   ///< of each model
  std::size_t devices = 0;
  progress_printer* progress = nullptr;
  run_metrics* metrics = nullptr;
  duration stall_limit{};
  supervisor_actor supervisor;
  record_sink sink;                ///< called at its end, however it ends
};
reporter_actor spawn_reporter(caf::actor_system& system, const run_services& services, const reporter_setup& setup);

struct supervisor_setup {
  duration callback_limit{};       ///< zero: a callback may take for ever
  duration stall_limit{};          ///< zero: a run without REPORTER may take for ever to end
  checkpoint_setup checkpoints;    ///< of models that join
  std::function<void()> halted{};  ///< as run_setup
};
/// Waits for crew_assembled, then starts the run.
supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services, const supervisor_setup& setup);

/// Spawns all actors of a run and starts it. `setup` may be dropped afterwards, but not what it points to. `sink` gets the
/// record when all actors have ended that use a device or the executor, in order or because one of them has died.
crew_assembled launch(caf::actor_system& system, run_setup setup, record_sink sink);

/// Ends all that are there and have not ended, whatever they still have to do.
void end_crew(const crew_assembled& crew);

}  // namespace hydra
