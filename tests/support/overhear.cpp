#include "tests/support/overhear.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/mailbox_element.hpp>

#include <fmt/format.h>

namespace hydra::test {

namespace {

template <class Handles>
std::optional<cast_member> among(const Handles& handles, role part, caf::actor_id id) {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] && handles[i].id() == id) {  // null: of a model that waits
      return cast_member{part, i};
    }
  }
  return std::nullopt;
}

template <class Handle>
bool is(const Handle& handle, caf::actor_id id) {
  return handle && handle.id() == id;
}

role host_role(const actors_spawned& actors, caf::actor_id id) {
  return is(actors.scheduler, id)    ? role::scheduler
         : is(actors.memory, id)     ? role::memory
         : is(actors.optimizer, id)  ? role::optimizer
         : is(actors.data, id)       ? role::data
         : is(actors.controller, id) ? role::controller
         : is(actors.checkpointer, id) ? role::checkpointer
         : is(actors.admission, id) ? role::admission
         : is(actors.reporter, id)   ? role::reporter
         : is(actors.supervisor, id) ? role::supervisor
                                   : role::nobody;
}

cast_member member_of(const actors_spawned& actors, caf::actor_id id) {
  if (auto device = among(actors.devices, role::device, id)) {
    return *device;
  }
  if (auto task = among(actors.tasks, role::task, id)) {
    return *task;
  }
  return {host_role(actors, id)};
}

std::string after_of(const unit_ready& m) { return m.after ? fmt::format(" after device {}", m.after->value) : ""; }

std::string list(const char* what, const std::vector<block_id>& blocks) {
  std::string text = blocks.empty() ? fmt::format("{} nothing", what) : what;
  for (const auto& b : blocks) {
    text += fmt::format(" {} {}", to_string(b.kind), b.shard.value);
  }
  return text;
}

std::string say(const begin_run&) { return "begin_run"; }
std::string say(const model_added& m) { return fmt::format("model_added {}", m.model.value); }
std::string say(const add_model& m) { return "add_model " + m.what.name; }
std::string say(const prepare_model& m) { return "prepare_model " + m.request.what.name; }
std::string say(const model_prepared& m) { return "model_prepared " + (m.entry ? m.entry->what->name : "refused"); }
std::string say(const register_model& m) { return fmt::format("register_model {}", m.model.value); }
std::string say(const model_admitted& m) { return fmt::format("model_admitted {}", m.model.value); }
std::string say(const model_left& m) { return fmt::format("model_left {}", m.model.value); }
std::string say(const task_ended& m) {
  return fmt::format("task_ended {} after {} steps{}{}", m.model.value, m.steps, m.stopped ? ", stopped" : "",
                     m.why ? ", failed" : "");
}
std::string range_of(const batch_range& r) {
  return fmt::format("{} {}", r.pass == pass_kind::train ? "step" : "evaluation", r.step.value);
}
std::string say(const batch_wanted& m) { return "batch_wanted " + range_of(m.range); }
std::string say(const batch_ready& m) { return "batch_ready " + range_of(m.range); }
std::string say(const unit_ready& m) { return "unit_ready " + to_string(m.what) + after_of(m); }
std::string say(const device_freed& m) {
  return fmt::format("device_freed {} credit, {}", m.credits, m.running ? "runs " + to_string(*m.running) : "idle");
}
std::string say(const prefetch_shard& m) { return "prefetch_shard " + to_string(m.what); }
std::string say(const unit_placed& m) {
  return fmt::format("unit_placed {} on device {}", to_string(m.what), m.device.value);
}
std::string say(const execute_shard& m) { return "execute_shard " + to_string(m.what); }
std::string say(const lease_shard& m) {
  return fmt::format("lease_shard {}: {}; {}", to_string(m.what), list("reads", m.reads), list("lands", m.outputs));
}
std::string say(const shard_leased& m) { return fmt::format("shard_leased {}", m.lease.value); }
std::string say(const lease_refused& m) { return fmt::format("lease_refused {}", m.lease.value); }
std::string say(const lease_returned& m) { return fmt::format("lease_returned {}", m.lease.value); }
std::string say(const shard_demoted& m) { return "shard_demoted " + to_string(m.what); }
std::string say(const shard_failed& m) { return "shard_failed " + to_string(m.what); }
std::string say(const shard_completed& m) { return "shard_completed " + to_string(m.what); }
std::string say(const step_shard& m) { return fmt::format("step_shard {} step {}", m.shard.value, m.step.value); }
std::string say(const shard_stepped& m) {
  return fmt::format("shard_stepped {} version {}", m.shard.value, m.version.value);
}
std::string say(const shard_updated& m) {
  return fmt::format("shard_updated {} version {}", m.shard.value, m.version.value);
}
std::string say(const step_observed& m) { return fmt::format("step_observed step {}", m.what.done - 1); }
std::string say(const step_acknowledged& m) {
  return fmt::format("step_acknowledged step {}{}", m.step.value, m.stop ? ", stop" : "");
}
std::string say(const evaluation_observed& m) { return fmt::format("evaluation_observed after {} steps", m.what.done); }
std::string say(const evaluation_acknowledged& m) {
  return fmt::format("evaluation_acknowledged after {} steps{}", m.steps, m.stop ? ", stop" : "");
}
std::string say(const device_lost& m) { return fmt::format("device_lost {}", m.device.value); }
std::string say(const unit_lost& m) {
  return fmt::format("unit_lost {}, next attempt {}", to_string(m.what), m.next_attempt);
}
std::string say(const withdraw_unit& m) { return "withdraw_unit " + to_string(m.what); }
std::string say(const capture_model& m) { return fmt::format("capture_model {}", m.model.value); }
std::string say(const hold_updates& m) { return fmt::format("hold_updates {}", m.model.value); }
std::string say(const updates_held& m) { return fmt::format("updates_held {}", m.model.value); }
std::string say(const model_captured& m) { return fmt::format("model_captured {}", m.model.value); }
std::string say(const save_model& m) {
  return fmt::format("save_model {} at step {} unit {}{}", m.model.value, m.standing.next.step, m.standing.next.done(0),
                     m.best ? ", best" : "");
}
std::string say(const shard_saved& m) { return fmt::format("shard_saved {}", m.shard.value); }
std::string say(const model_saved& m) { return fmt::format("model_saved {}", m.model.value); }
std::string say(const run_aborted& m) { return m.save ? "run_aborted, save" : "run_aborted"; }
std::string say(const shut_down&) { return "shut_down"; }

template <class... Messages>
std::string text_of(const overheard& o) {
  std::string text;
  const auto try_one = [&]<class M>(const M* m) { return m != nullptr && (text = say(*m), true); };
  (try_one(o.get<Messages>()) || ...);
  return text;
}

}  // namespace

std::string to_string(const cast_member& c) {
  constexpr const char* names[] = {"",     "SUPERVISOR", "REPORTER",     "SCHEDULER", "MEMORY MANAGER", "OPTIMIZER",
                                   "DATA", "CONTROLLER", "CHECKPOINTER", "ADMISSION", "DEVICE",         "MODEL TASK"};
  const auto* name = names[static_cast<std::size_t>(c.part)];
  return c.part == role::device || c.part == role::task ? fmt::format("{} {}", name, c.place) : name;
}

std::optional<overheard> overhear(const simulation& s, std::size_t choice) {
  auto* actor = s.next(choice);
  auto* element = actor ? actor->peek_at_next_mailbox_element() : nullptr;
  if (!element) {
    return std::nullopt;
  }
  const auto& actors = s.actors();
  return overheard{.from = element->sender ? member_of(actors, element->sender->id()) : cast_member{},
                   .to = member_of(actors, actor->id()),
                   .content = &element->content()};
}

std::optional<std::size_t> choice_without(const simulation& s, caf::actor_id id) {
  constexpr std::size_t more_than_actors = 16;
  for (std::size_t choice = 0; choice < more_than_actors; ++choice) {
    const auto* actor = s.next(choice);
    if (actor && actor->id() != id) {
      return choice;
    }
  }
  return std::nullopt;
}

std::string to_text(const overheard& m) {
  if (m.from.part == role::nobody || m.to.part == role::reporter) {
    return {};
  }
  const auto said =
      text_of<begin_run, add_model, prepare_model, model_prepared, register_model, model_admitted, model_added,
              model_left, task_ended, batch_wanted, batch_ready, unit_ready, device_freed, prefetch_shard, unit_placed,
              execute_shard, lease_shard, shard_leased, lease_refused, lease_returned, shard_demoted, shard_failed,
              shard_completed, step_shard, shard_stepped, shard_updated, step_observed, step_acknowledged,
              evaluation_observed, evaluation_acknowledged, device_lost, unit_lost, withdraw_unit, capture_model,
              hold_updates, updates_held, model_captured, save_model, shard_saved, model_saved, run_aborted, shut_down>(
          m);
  return said.empty() ? said : fmt::format("{} -> {} {}", to_string(m.from), to_string(m.to), said);
}

}  // namespace hydra::test
