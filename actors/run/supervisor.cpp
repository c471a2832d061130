#include "actors/run/supervisor.hpp"

#include "actors/run/actor_lists.hpp"
#include "actors/run/launch.hpp"
#include "actors/run/supervisor_actor.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace hydra {

namespace {

/// No unit is tried that often between two pauses of its model.
constexpr std::uint32_t most_attempts = 1U << 16;

}  // namespace

void supervisor::on_actors_spawned(const actors_spawned& m) {
  actors_ = m;
  actors_.supervisor = nullptr;  // a handle to itself would keep it alive
  began_ = clock().now();
  observe(run_begun{phases_.names(), setup_.devices});
  for (const auto& begin : setup_.begins) {
    phases_.has_done(begin.model, begin.done);
    if (!setup_.waiting.contains(begin.model)) {
      observe(begin);
    }
  }
  const begin_run start{began_};
  monitor(actors_.reporter);
  send(actors_.reporter, start);
  for (std::uint32_t i = 0; i < actors_.devices.size(); ++i) {
    monitor(actors_.devices[i]);
    alive_.insert(device_id{i});
    send(actors_.devices[i], start);
  }
  for (const auto& task : actors_.tasks) {
    if (task) {
      monitor(task);
      send(task, start);
    }
  }
  const auto watch = [this](const auto& actor) {
    monitor(actor);
    host_.insert(actor.address());
  };
  watch(actors_.scheduler);
  each_that_ends_late(actors_, watch);
  for (const auto& model : setup_.waiting) {
    if (setup_.begin_paused) {
      pause_without_memory(model);
    } else {
      queue_.add({.what = *phases_.description(model), .known = model});
    }
  }
  prepare_next();
  end_if_over();
}

void supervisor::on_add_model(const add_model& m) {
  wanted_admission wanted{.what = m.what, .continues = setup_.begin_paused, .answer = m.answer};
  if (!actors_.admission || is_over()) {
    refuse(wanted, {fault_code::refused,
                    "model '" + m.what.name +
                        (stage_ == run_stage::halting ? "': the run is being halted" : "': the run has ended")});
    return;
  }
  queue_.add(std::move(wanted));
  notify_waiting();
  prepare_next();
}

void supervisor::on_model_prepared(const model_prepared& m) {
  auto wanted = queue_.prepared();
  const bool more_comes = phases_.holds_memory() || queue_.is_outdated(phases_.releases());
  if (wanted && m.why.code == fault_code::out_of_memory && more_comes) {
    queue_.put_back(*std::move(wanted));
    notify_waiting();
  } else if (wanted) {
    try_to_join(*wanted, m);
  }
  prepare_next();
  make_room();
  end_if_over();
}

void supervisor::on_task_ended(const task_ended& m) {
  const auto how = m.paused    ? model_phase::paused
                   : m.why     ? model_phase::failed
                   : m.stopped ? model_phase::stopped
                               : model_phase::finished;
  if (!phases_.end(m.model, how)) {
    return;
  }
  phases_.has_done(m.model, std::max(phases_.steps(m.model), m.steps));  // a task that died reports 0
  observe_end(m, how);
  if (m.paused && phases_.trial(m.model) == trial_wait::paused) {
    room_retry_.succeeded();
  }
  answer_all(kept_, m.model, m.paused ? fault{} : m.why);
  if (how != model_phase::paused) {
    forget(m.model);
    if ((m.why || m.stopped) && !is_over()) {
      send(actors_.controller, trial_left{phases_.name_of(m.model)});
    }
    answer_all(steered_, m.model,
               {fault_code::refused, "model '" + phases_.name_of(m.model) + "' has ended before that was done"});
  }
  end_if_over();
  release_if_over(m.model);
}

void supervisor::observe_end(const task_ended& m, model_phase how) {
  const auto& name = phases_.name_of(m.model);
  const auto steps = phases_.steps(m.model);
  if (how == model_phase::paused) {
    observe(model_paused{m.model, name, steps});
  } else if (how == model_phase::failed) {
    observe(model_failed{m.model, name, steps, m.why});
  } else {
    observe(model_ended{m.model, name, steps, m.stopped, m.unsaved});
  }
}

void supervisor::observe(run_event what) {
  if (actors_.controller && actors_.observed.others && !is_ending()) {
    send(actors_.controller, event_observed{std::move(what)});
    ++unacknowledged_;
  }
}

/// Not of a controller that was given up.
void supervisor::on_event_acknowledged(const event_acknowledged&) {
  if (unacknowledged_ > 0) {
    --unacknowledged_;
    callback_.ended();
    end_if_over();
  }
}

void supervisor::forget(model_id model) {
  if (!setup_.begin_paused) {
    phases_.forget(model);
  }
}

void supervisor::on_model_drained(const model_drained& m) {
  phases_.drained(m.model);
  release_if_over(m.model);
}

void supervisor::on_model_released(const model_released& m) {
  phases_.released(m.model);
  send_to_devices(m);
  send(actors_.data, m);
  send(std::exchange(actors_.tasks.at(m.model.value), nullptr), shut_down{});
  answer_all(steered_, m.model, {});
  if (phases_.take_back(m.model, due_command::resume) && !is_over()) {
    admit_again(m.model);
  }
  prepare_next();
}

void supervisor::prepare_next() {
  if (const auto* next = queue_.begin(phases_.releases())) {
    const auto id = next->known.value_or(model_id{static_cast<std::uint32_t>(phases_.size())});
    send(actors_.admission, prepare_model{{next->what, id, phases_.size(), next->continues, phases_.without_memory()}});
  }
}

void supervisor::try_to_join(const wanted_admission& wanted, const model_prepared& m) {
  if (m.why) {
    refuse(wanted, m.why);
    return;
  }
  try {
    join(wanted, *m.entry);
  } catch (...) {
    refuse(wanted, to_fault(std::current_exception()));
  }
}

void supervisor::join(const wanted_admission& wanted, model_entry entry) {
  const auto id = wanted.known.value_or(model_id{static_cast<std::uint32_t>(phases_.size())});
  if (!wanted.known) {
    phases_.add(wanted.what, model_phase::waiting);
    actors_.tasks.emplace_back();
  }
  const auto task = spawn_task(id, entry);
  phases_.admitted(id);
  const register_model home{id, entry.what, std::exchange(entry.memory, {}), entry.standing.next, task};
  send(actors_.reporter, model_admitted{id, entry});
  send(actors_.memory, home);
  send(actors_.data, model_admitted{id, entry});
  phases_.has_done(id, entry.standing.next.step);
  observe(model_joined{id, entry.what->name, entry.standing.next.step, entry.what->steps});
  send(task, begin_run{began_});
  // Models that wait for memory get it in turn, in a search at every rung: that is no news.
  services_.log->log(wanted.known ? spdlog::level::debug : spdlog::level::info, "model {} {}", entry.what->name,
                     wanted.known ? "has its memory" : "joins the run");
  if (wanted.answer) {
    wanted.answer({.model = id, .task = task});
  }
}

task_actor supervisor::spawn_task(model_id id, const model_entry& entry) {
  auto setup = task_setup_of(id, entry, actors_);
  setup.supervisor = caf::actor_cast<supervisor_actor>(this);
  setup.first_attempt = phases_.admissions(id) * most_attempts;
  setup.checkpoints = {setup_.checkpoints.every_steps, setup_.checkpoints.every, setup_.checkpoints.every};
  if (entry.what->share.first > 0) {
    setup.checkpointer = nullptr;  // the node of the first replica saves it
  }
  const auto task = spawn_model_task(system(), services_, setup);
  monitor(task);
  actors_.tasks.at(id.value) = task;
  return task;
}

void supervisor::refuse(const wanted_admission& wanted, const fault& why) {
  if (wanted.known) {
    services_.log->error("{}", why.text);
    end_without_task(*wanted.known, why);
  } else {
    if (is_over() && wanted.knows_it_waits) {
      return wanted.answer({.why = why});  // a run that is resumed has it
    }
    services_.log->warn("not added: {}", why.text);
    const model_refused refusal{wanted.what.name, why, wanted.answer && !wanted.knows_it_waits};
    send(actors_.reporter, refusal);
    observe(refusal);
    if (wanted.knows_it_waits) {
      send(actors_.controller, trial_left{wanted.what.name});
    }
  }
  if (wanted.answer) {
    wanted.answer({.why = why});
  }
}

void supervisor::notify_waiting() {
  for (const auto& sink : queue_.newly_waiting()) {
    sink({.waits = true});
  }
}

void supervisor::end_without_task(model_id model, const fault& why) {
  if (phases_.end(model, model_phase::failed)) {
    send(actors_.reporter, task_ended{model, 0, false, why, {}});
    observe(model_failed{model, phases_.name_of(model), phases_.steps(model), why});
    if (!is_over()) {
      send(actors_.controller, trial_left{phases_.name_of(model)});
    }
  }
}

void supervisor::release_if_over(model_id model) {
  if (is_ending()) {
    return;
  }
  if (const auto release = phases_.release(model)) {
    send(actors_.memory, *release);
  }
}

supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services,
                                  const supervisor_setup& setup) {
  return system.spawn<supervisor>(services, setup);
}

}  // namespace hydra
