#include "actors/run/launch.hpp"

#include "actors/checkpoint/checkpointer.hpp"
#include "actors/device/device.hpp"
#include "actors/input/data.hpp"
#include "actors/memory/memory_manager.hpp"
#include "actors/model/model_task.hpp"
#include "actors/run/controller.hpp"
#include "actors/run/recruiter.hpp"
#include "actors/run/supervisor.hpp"
#include "actors/schedule/scheduler.hpp"
#include "actors/update/optimizer.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/checkpoint/save_book.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace hydra {

namespace {

reporter_setup report_of(const run_setup& setup, const supervisor_actor& supervisor, record_sink sink) {
  reporter_setup r;
  for (const auto& m : setup.models) {
    r.models.push_back(m.what);
    r.standing_before.push_back(m.standing);
  }
  r.devices = setup.devices.size();
  r.progress = setup.progress;
  r.metrics = setup.metrics;
  r.stall_limit = setup.stall_limit;
  r.supervisor = supervisor;
  r.sink = std::move(sink);
  return r;
}

/// The record of a run, told when the last of some actors has ended: each tells so where it ends.
class run_end {
 public:
  run_end(std::size_t actors, record_sink sink) : left_(actors), sink_(std::move(sink)) {}

  void take(run_record record) { record_ = std::move(record); }
  void one_has_ended() {
    if (--left_ == 0) {
      sink_(std::move(record_));
    }
  }

 private:
  std::atomic<std::size_t> left_;
  run_record record_;   ///< by the REPORTER, before it ends
  record_sink sink_;
};

adviser start_adviser(caf::actor_system& system, const adviser_setup& setup) {
  if (!setup.source) {
    return {};
  }
  adviser a{.actor = setup.source->start(system), .asks = setup.asks, .limit = setup.limit,
            .outlives_run = setup.source->outlives_run, .apart = setup.apart};
  if (!a.actor) {
    throw fault_error(fault_code::bad_input, "policy " + setup.source->name + ": there is no actor to ask");
  }
  return a;
}

void spawn_devices(caf::actor_system& system, const run_setup& setup, crew_assembled& crew) {
  for (std::uint32_t i = 0; i < setup.devices.size(); ++i) {
    auto* machine = setup.devices[i];
    crew.devices.push_back(spawn_device(system, setup.services,
                                        {device_id{i}, machine, setup.pipeline, crew.scheduler, crew.memory, crew.reporter}));
    const device_added joined{device_id{i}, machine->info().speed, crew.devices.back(), machine->info().link,
                              machine->info().latency};
    post(crew.scheduler, joined);
    post(crew.memory, joined);
  }
}

checkpoint_times times_of(const run_setup& setup, std::uint32_t model) {
  const auto& c = setup.checkpoints;
  return {c.every_steps, c.every, first_due(c.every, model, setup.models.size())};
}

void spawn_tasks(caf::actor_system& system, const run_setup& setup, crew_assembled& crew) {
  for (std::uint32_t i = 0; i < setup.models.size(); ++i) {
    const auto& m = setup.models[i];
    auto task = task_setup_of(model_id{i}, m, crew);
    task.checkpoints = times_of(setup, i);
    crew.tasks.push_back(spawn_model_task(system, setup.services, task));
    post(crew.memory, register_model{model_id{i}, m.what, m.memory, m.standing.step, m.standing.unit, crew.tasks.back()});
  }
}

/// Calls `f` with each actor but the SUPERVISOR that the run cannot be over without; none of them ever blocks.
template <class F>
void each_that_ends(const crew_assembled& crew, F f) {
  f(crew.reporter);
  f(crew.scheduler);
  f(crew.memory);
  f(crew.optimizer);
  std::ranges::for_each(crew.devices, f);
  std::ranges::for_each(crew.tasks, f);
}

/// In order the SUPERVISOR has ended the others when it ends. When it dies nobody else would, and the session waits for them.
void end_together(const crew_assembled& crew, const std::shared_ptr<run_end>& end) {
  each_that_ends(crew, [&](const auto& actor) { at_end_of(actor, [end] { end->one_has_ended(); }); });
  auto others = crew;
  others.supervisor = nullptr;
  others.reporter = nullptr;   // it sees that the SUPERVISOR is gone, and tells the record
  at_end_of(crew.supervisor, [end, others = std::move(others)] {
    end_crew(others);
    end->one_has_ended();
  });
}

}  // namespace

void end_crew(const crew_assembled& crew) {
  const auto end = [](const auto& actor) {
    if (actor) {
      end_actor(actor);
    }
  };
  std::ranges::for_each(crew.devices, end);
  std::ranges::for_each(crew.tasks, end);
  end(crew.scheduler);
  end(crew.memory);
  end(crew.optimizer);
  end(crew.data);
  end(crew.controller);
  end(crew.checkpointer);
  end(crew.recruiter);
  end(crew.reporter);
  end(crew.supervisor);
}

task_setup task_setup_of(model_id id, const model_entry& entry, const crew_assembled& crew) {
  return {.id = id,
          .what = entry.what,
          .standing = entry.standing,
          .versions = entry.memory.versions,
          .checkpoints = {},
          .scheduler = crew.scheduler,
          .memory = crew.memory,
          .data = crew.data,
          .reporter = crew.reporter,
          .controller = crew.controller,
          .observed = crew.observed,
          .checkpointer = crew.checkpointer,
          .supervisor = crew.supervisor};
}

crew_assembled launch(caf::actor_system& system, run_setup setup, record_sink sink) {
  auto advice = start_adviser(system, setup.adviser);  // first: it may be refused
  crew_assembled crew;
  crew.supervisor = spawn_supervisor(system, setup.services,
                                     {setup.callback_limit, setup.stall_limit, setup.checkpoints, setup.halted});
  const auto end = std::make_shared<run_end>(5 + setup.devices.size() + setup.models.size(), std::move(sink));
  crew.reporter = spawn_reporter(system, setup.services,
                                 report_of(setup, crew.supervisor, [end](run_record r) { end->take(std::move(r)); }));
  crew.scheduler =
      spawn_scheduler(system, setup.services, {.chosen = std::move(setup.chosen),
                                               .advice = std::move(advice),
                                               .watch = setup.watch,
                                               .reporter = crew.reporter,
                                               .supervisor = crew.supervisor,
                                               .stand_in = setup.stand_in,
                                               .built_in = setup.built_in});
  crew.optimizer = spawn_optimizer(system, setup.services);
  crew.memory = spawn_memory_manager(system, setup.services, {crew.scheduler, crew.optimizer, crew.reporter, crew.supervisor});
  crew.data = spawn_data(system, setup.services, setup.models, crew.memory, setup.detached);
  const callback_set callbacks{setup.callbacks, setup.evaluation_callbacks};
  crew.observed = callbacks.wanted();
  crew.controller = spawn_controller(system, setup.services, callbacks, crew.supervisor, setup.detached);
  crew.recruiter = spawn_recruiter(system, setup.services, setup.recruit, crew.supervisor, setup.detached);
  crew.checkpointer =
      spawn_checkpointer(system, setup.services,
                         {setup.checkpoints.store, crew.memory, crew.optimizer, crew.reporter}, setup.detached);
  spawn_devices(system, setup, crew);
  spawn_tasks(system, setup, crew);
  end_together(crew, end);
  post(crew.supervisor, crew);
  return crew;
}

}  // namespace hydra
