#include "actors/run/launch.hpp"

#include "actors/checkpoint/checkpointer.hpp"
#include "actors/checkpoint/save_tracker.hpp"
#include "actors/device/device.hpp"
#include "actors/input/data.hpp"
#include "actors/memory/memory_manager.hpp"
#include "actors/model/model_task.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/run/actor_lists.hpp"
#include "actors/run/admission.hpp"
#include "actors/run/controller.hpp"
#include "actors/run/supervisor.hpp"
#include "actors/schedule/scheduler.hpp"
#include "actors/update/optimizer.hpp"
#include "runtime/device/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
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
  r.waiting = setup.waiting;
  r.devices.assign(setup.devices.begin(), setup.devices.end());
  r.host = setup.host;
  r.terms = setup.terms;
  r.expenses = setup.expenses;
  r.open_end = setup.begin_paused;
  r.progress = setup.progress;
  r.metrics = setup.metrics;
  r.stall_limit = setup.stall_limit;
  r.supervisor = supervisor;
  r.sink = std::move(sink);
  return r;
}

/// The record of a run, passed to the sink when the last of some actors has ended.
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
  run_record record_;   ///< set by the REPORTER, before it ends
  record_sink sink_;
};

running_policy_actor start_policy_actor(caf::actor_system& system, const policy_actor_setup& setup) {
  if (!setup.source) {
    return {};
  }
  running_policy_actor a{.actor = setup.source->start(system), .asks = setup.asks, .limit = setup.limit,
            .outlives_run = setup.source->outlives_run, .apart = setup.apart};
  if (!a.actor) {
    throw fault_error(fault_code::bad_input, "policy " + setup.source->name + ": there is no actor to ask");
  }
  return a;
}

void spawn_devices(caf::actor_system& system, const run_setup& setup, actors_spawned& actors) {
  for (std::uint32_t i = 0; i < setup.devices.size(); ++i) {
    auto* machine = setup.devices[i];
    actors.devices.push_back(
        spawn_device(system, setup.services,
                     {device_id{i}, machine, setup.pipeline, actors.scheduler, actors.memory, actors.reporter}));
    const device_added joined{device_id{i}, machine->info().speed, actors.devices.back(), machine->info().link,
                              machine->info().latency};
    post(actors.scheduler, joined);
    post(actors.memory, joined);
  }
}

/// Of a simulation, whose models have none, only what a model's admission is decided by.
std::vector<model_description> descriptions_of(const run_setup& setup) {
  auto all = setup.descriptions;
  for (auto i = all.size(); i < setup.models.size(); ++i) {
    const auto& m = *setup.models[i].what;
    all.push_back({.name = m.name, .priority = m.terms.priority});
  }
  return all;
}

std::vector<std::string> names_of_devices(const run_setup& setup) {
  std::vector<std::string> all;
  std::ranges::transform(setup.devices, std::back_inserter(all), [](const device* d) { return d->info().name; });
  return all;
}

std::vector<model_joined> begins_of(const run_setup& setup) {
  std::vector<model_joined> all;
  for (std::uint32_t i = 0; i < setup.models.size(); ++i) {
    const auto& m = setup.models[i];
    all.push_back({model_id{i}, m.what->name, m.standing.next.step, m.what->steps});
  }
  return all;
}

checkpoint_times times_of(const run_setup& setup, std::uint32_t model) {
  const auto& c = setup.checkpoints;
  return {c.every_steps, c.every, first_due(c.every, model, setup.models.size())};
}

void spawn_tasks(caf::actor_system& system, const run_setup& setup, actors_spawned& actors) {
  for (std::uint32_t i = 0; i < setup.models.size(); ++i) {
    if (setup.waiting.contains(model_id{i})) {
      actors.tasks.emplace_back();
      continue;
    }
    const auto& m = setup.models[i];
    auto task = task_setup_of(model_id{i}, m, actors);
    task.checkpoints = times_of(setup, i);
    actors.tasks.push_back(spawn_model_task(system, setup.services, task));
    post(actors.memory, register_model{model_id{i}, m.what, m.memory, m.standing.next, actors.tasks.back()});
  }
}

/// Calls `f` with each actor, except the SUPERVISOR, that must end before the run is over; none of them ever blocks.
template <class F>
void each_that_ends(const actors_spawned& actors, F f) {
  f(actors.reporter);
  f(actors.scheduler);
  f(actors.memory);
  f(actors.optimizer);
  std::ranges::for_each(actors.devices, f);
  for (const auto& task : actors.tasks) {
    if (task) {
      f(task);
    }
  }
}

/// In an orderly end the SUPERVISOR has ended the others before. If it dies nothing else would end them, and the
/// session waits for them.
void end_together(const actors_spawned& actors, const std::shared_ptr<run_end>& end) {
  each_that_ends(actors, [&](const auto& actor) { at_end_of(actor, [end] { end->one_has_ended(); }); });
  auto others = actors;
  others.supervisor = nullptr;
  others.reporter = nullptr;   // it notices the end of the SUPERVISOR and passes on the record
  at_end_of(actors.supervisor, [end, others = std::move(others)] {
    end_actors(others);
    end->one_has_ended();
  });
}

}  // namespace

void end_actors(const actors_spawned& actors) {
  const auto end = [](const auto& actor) { end_actor(actor); };
  std::ranges::for_each(actors.devices, end);
  std::ranges::for_each(actors.tasks, end);
  end(actors.scheduler);
  each_that_ends_late(actors, end);
  end(actors.reporter);
  end(actors.supervisor);
}

task_setup task_setup_of(model_id id, const model_entry& entry, const actors_spawned& actors) {
  return {.id = id,
          .what = entry.what,
          .standing = entry.standing,
          .versions = entry.memory.versions,
          .checkpoints = {},
          .scheduler = actors.scheduler,
          .memory = actors.memory,
          .data = actors.data,
          .reporter = actors.reporter,
          .controller = actors.controller,
          .observed = actors.observed,
          .checkpointer = actors.checkpointer,
          .supervisor = actors.supervisor};
}

namespace {

void spawn_actors(caf::actor_system& system, run_setup& setup, actors_spawned& actors,
                  const std::shared_ptr<run_end>& end) {
  auto advice = start_policy_actor(system, setup.advice);  // first: it may be refused
  actors.supervisor = spawn_supervisor(system, setup.services,
                                       {.models = descriptions_of(setup),
                                        .waiting = setup.waiting,
                                        .begin_paused = setup.begin_paused,
                                        .devices = names_of_devices(setup),
                                        .begins = begins_of(setup),
                                        .callback_limit = setup.callback_limit,
                                        .stall_limit = setup.stall_limit,
                                        .checkpoints = setup.checkpoints,
                                        .halted = setup.halted});
  actors.reporter = spawn_reporter(
      system, setup.services, report_of(setup, actors.supervisor, [end](run_record r) { end->take(std::move(r)); }));
  actors.scheduler =
      spawn_scheduler(system, setup.services, {.chosen = std::move(setup.chosen),
                                               .advice = std::move(advice),
                                               .watch = setup.watch,
                                               .reporter = actors.reporter,
                                               .supervisor = actors.supervisor,
                                               .stand_in = setup.stand_in,
                                               .built_in = setup.built_in});
  actors.optimizer = spawn_optimizer(system, setup.services);
  actors.memory = spawn_memory_manager(system, setup.services,
                                       {actors.scheduler, actors.optimizer, actors.reporter, actors.supervisor});
  actors.data = spawn_data(system, setup.services, setup.models, actors.memory, setup.detached);
  const callback_set callbacks{setup.callbacks, setup.search, setup.callback_limit};
  actors.observed = callbacks.wanted();
  actors.controller = spawn_controller(system, setup.services, callbacks, actors.supervisor, setup.detached);
  actors.admission = spawn_admission(system, setup.services, setup.make_model, actors.supervisor, setup.detached);
  actors.checkpointer =
      spawn_checkpointer(system, setup.services,
                         {.store = setup.checkpoints.store,
                          .memory = actors.memory,
                          .optimizer = actors.optimizer,
                          .reporter = actors.reporter,
                          .observer = actors.observed.others ? actors.supervisor : supervisor_actor{}},
                         setup.detached);
  spawn_devices(system, setup, actors);
  spawn_tasks(system, setup, actors);
}

}  // namespace

actors_spawned launch(caf::actor_system& system, run_setup setup, record_sink sink) {
  actors_spawned actors;
  const auto tasks = setup.models.size() - setup.waiting.size();
  const auto end = std::make_shared<run_end>(5 + setup.devices.size() + tasks, std::move(sink));
  try {
    spawn_actors(system, setup, actors, end);
  } catch (...) {
    end_actors(actors);  // otherwise the system would wait for them
    throw;
  }
  end_together(actors, end);
  return actors;
}

void start_run(const actors_spawned& actors) { post(actors.supervisor, actors); }

}  // namespace hydra
