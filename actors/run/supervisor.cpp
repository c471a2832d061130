#include "actors/run/supervisor.hpp"

#include "actors/run/actor_lists.hpp"
#include "actors/run/launch.hpp"
#include "actors/run/supervisor_actor.hpp"

#include <exception>
#include <utility>

namespace hydra {

void supervisor::on_actors_spawned(const actors_spawned& m) {
  actors_ = m;
  actors_.supervisor = nullptr;  // a handle to itself would keep it alive
  began_ = clock().now();
  const begin_run start{began_};
  monitor(actors_.reporter);
  send(actors_.reporter, start);
  for (std::uint32_t i = 0; i < actors_.devices.size(); ++i) {
    monitor(actors_.devices[i]);
    alive_.insert(device_id{i});
    send(actors_.devices[i], start);
  }
  for (const auto& task : actors_.tasks) {
    monitor(task);
    send(task, start);
  }
  const auto watch = [this](const auto& actor) {
    monitor(actor);
    host_.insert(actor.address());
  };
  watch(actors_.scheduler);
  each_that_ends_late(actors_, watch);
  running_ = actors_.tasks.size() - ends_.count();
  end_if_over();
}

void supervisor::on_add_model(const add_model& m) {
  if (!actors_.admission || halted_ || ending_) {
    refuse(m, {fault_code::refused, "model '" + m.what.name + (halted_ ? "': the run is being halted" : "': the run has ended")});
    return;
  }
  if (joins_.add(m)) {
    prepare_next();
  }
}

void supervisor::on_model_prepared(const model_prepared& m) {
  if (joins_.empty()) {
    return;  // it was refused when the run was halted
  }
  const bool no_memory = m.why.code == fault_code::does_not_fit || m.why.code == fault_code::out_of_memory;
  if (no_memory && memory_is_coming_back()) {
    return;
  }
  try_to_join(joins_.take(), m);
  prepare_next();
  end_if_over();
}

void supervisor::on_model_ended(const model_ended& m) {
  if (!ends_.end(m.model, static_cast<bool>(m.why))) {
    return;
  }
  --running_;
  end_if_over();
  release_if_over(m.model);
}

void supervisor::on_model_drained(const model_drained& m) {
  ends_.drained(m.model);
  release_if_over(m.model);
}

void supervisor::on_model_released(const model_released& m) {
  ends_.released(m.model);
  send_to_devices(m);
  send(actors_.data, m);
  send(std::exchange(actors_.tasks.at(m.model.value), nullptr), shut_down{});
  if (joins_.wake()) {
    prepare_next();
  }
}

void supervisor::prepare_next() {
  if (!joins_.empty()) {
    const auto& released = ends_.all_released();
    joins_.prepares(released.size());
    send(actors_.admission, prepare_model{joins_.first().what, released});
  }
}

bool supervisor::memory_is_coming_back() {
  if (joins_.has_more(ends_.all_released().size())) {
    prepare_next();
    return true;
  }
  return joins_.wait(ends_.awaits_release());
}

void supervisor::try_to_join(const add_model& asked, const model_prepared& m) {
  if (m.why) {
    refuse(asked, m.why);
    return;
  }
  try {
    join(asked, *m.entry);
  } catch (...) {
    refuse(asked, to_fault(std::current_exception()));
  }
}

void supervisor::join(const add_model& asked, model_entry entry) {
  const model_id id{static_cast<std::uint32_t>(actors_.tasks.size())};
  for (auto& [block, bytes] : entry.memory.boundaries) {
    block.model = id;
  }
  const auto task = spawn_task(id, entry);
  const register_model home{id, entry.what, std::exchange(entry.memory, {}), entry.standing.next, task};
  send(actors_.reporter, model_joined{id, entry});
  send(actors_.memory, home);
  send(actors_.data, model_joined{id, entry});
  send(task, begin_run{began_});
  services_.log->info("model {} joins the run", entry.what->name);
  if (asked.answer) {
    asked.answer({id, task, {}});
  }
}

task_actor supervisor::spawn_task(model_id id, const model_entry& entry) {
  auto setup = task_setup_of(id, entry, actors_);
  setup.supervisor = caf::actor_cast<supervisor_actor>(this);
  setup.checkpoints = {setup_.checkpoints.every_steps, setup_.checkpoints.every, setup_.checkpoints.every};
  const auto task = spawn_model_task(system(), services_, setup);
  monitor(task);
  actors_.tasks.push_back(task);
  ++running_;
  return task;
}

void supervisor::refuse(const add_model& asked, const fault& why) {
  services_.log->warn("not added: {}", why.text);
  send(actors_.reporter, model_refused{asked.what.name, why});
  if (asked.answer) {
    asked.answer({{}, {}, why});
  }
}

void supervisor::release_if_over(model_id model) {
  if (ending_) {
    return;
  }
  if (const auto release = ends_.release(model)) {
    send(actors_.memory, *release);
  }
}

supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services, const supervisor_setup& setup) {
  return system.spawn<supervisor>(services, setup);
}

}  // namespace hydra
