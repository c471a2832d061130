// How a run is halted, what a death means, and the order of the end.

#include "actors/run/actor_lists.hpp"
#include "actors/run/launch.hpp"
#include "actors/run/supervisor_actor.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace hydra {

void supervisor::on_interrupt_run(const interrupt_run&) {
  on_run_aborted({{fault_code::interrupted, "the run was interrupted"}, is_first(abort_cause::interrupt)});
}

void supervisor::on_run_aborted(const run_aborted& m) {
  if (m.save && is_over()) {
    return;
  }
  if (!m.save) {
    drop_checkpoints();
  }
  refuse_all(m.why);
  send_to_tasks(m);
  if (!actors_.tasks.empty()) {
    end_if_over();  // the run may only have waited for a model to be added
  }
}

void supervisor::on_run_stalled(const run_stalled& m) {
  if (waits_for_command() || std::exchange(commanded_, false)) {
    return;
  }
  const report_state question{m.reporter};
  send_to_tasks(question);
  send_to_devices(question);
  send(actors_.scheduler, question);
  send(actors_.memory, question);
  send(actors_.optimizer, question);
  on_run_aborted({m.why, is_first(abort_cause::stall)});
}

void supervisor::on_device_given_up(const device_given_up& m) {
  lose(m.device, m.why);
  end_actor(actors_.devices.at(m.device.value));
}

void supervisor::on_callback_began(const callback_began& m) {
  callback_.began(m.what, clock().now());
  watch_callback();
}

void supervisor::on_callback_ended(const callback_ended& m) {
  callback_.ended();
  for (const auto model : m.stops) {
    if (model.value >= phases_.size()) {
      const auto why =
          fmt::format("a callback has asked to stop model {}, but the run has models 0 to {}: nothing was stopped",
                      model.value, phases_.size() - 1);
      services_.log->warn("{}", why);
      send(actors_.reporter, wish_refused{why});
    }
  }
}

void supervisor::on_check_controller(const check_controller&) {
  if (const auto why = callback_.late(clock().now())) {
    lose_controller(*why);
  }
  watch_callback();
}

void supervisor::on_callback_failed(const callback_failed& m) {
  services_.log->warn("{}", m.why);
  send(actors_.reporter, m);
}

void supervisor::on_controller_failed(const controller_failed& m) { lose_controller(m.why); }

void supervisor::refuse_all(const fault& why) {
  if (stage_ == run_stage::training) {
    stage_ = run_stage::halting;
    if (setup_.halted) {
      setup_.halted();
    }
  }
  for (const auto& wanted : queue_.take_all()) {
    if (wanted.continues && wanted.known) {
      phases_.end(*wanted.known, model_phase::paused);  // as it was: its state is saved
    } else if (wanted.known) {
      end_without_task(*wanted.known, why);
    } else {
      refuse(wanted, {fault_code::refused, "model '" + wanted.what.name + "': the run is being halted: " + why.text});
    }
  }
}

void supervisor::drop_checkpoints() {
  if (actors_.checkpointer && host_.erase(actors_.checkpointer.address()) > 0) {
    end_actor(actors_.checkpointer);
  }
}

void supervisor::on_down(const caf::down_msg& m) {
  if (const auto device = position_of(actors_.devices, m.source)) {
    lose(device_id{*device}, {fault_code::device_lost, "the device is gone"});
    return;
  }
  if (const auto task = position_of(actors_.tasks, m.source)) {
    on_task_down(model_id{*task});
    return;
  }
  if (actors_.reporter.address() == m.source) {
    on_reporter_down();
    return;
  }
  if (actors_.controller && actors_.controller.address() == m.source) {
    lose_controller("the actor that calls the callbacks is gone");
    return;
  }
  const bool awaited = host_.erase(m.source) > 0;  // not a controller that was given up
  if (awaited && !is_ending()) {
    const bool may_save =
        m.source == actors_.data.address() || (actors_.admission && m.source == actors_.admission.address());
    on_run_aborted({{fault_code::internal, "an actor of the run died; the log names it"}, may_save});
  }
  end_reporter_if_alone();
}

void supervisor::on_task_down(model_id model) {
  if (phases_.has_ended(model) || phases_.of(model) == model_phase::paused) {
    return;
  }
  services_.log->error("the task of model {} has died", model.value);
  const fault why{fault_code::internal, "its task has died, which is an error of Hydra; the log may say more"};
  const task_ended message{model, 0, false, why, {}};
  send(actors_.scheduler, model_left{model});
  send(actors_.reporter, message);
  on_task_ended(message);
}

void supervisor::on_reporter_down() {
  if (is_ending()) {
    return;
  }
  const fault why{fault_code::internal, "the reporter of the run has died"};
  services_.log->error("{}", why.text);
  on_run_aborted({why, true});
  if (setup_.stall_limit > duration{}) {
    delayed_send(this, setup_.stall_limit, run_aborted{why});
  }
}

void supervisor::lose(device_id device, const fault& why) {
  if (alive_.erase(device) == 0) {
    return;
  }
  const device_lost lost{device, why, setup_.devices.at(device.value)};
  send(actors_.reporter, lost);
  if (is_ending()) {
    end_host_if_devices_are_gone();
    return;
  }
  services_.log->warn("device {} is lost ({}); its units move to other devices", device.value, why.text);
  send(actors_.memory, lost);
  observe(lost);
  if (alive_.empty()) {
    on_run_aborted({{fault_code::device_lost, "the last device is gone: " + why.text}, true});
  }
}

void supervisor::watch_callback() {
  if (const auto wait = callback_.next_look(clock().now())) {
    delayed_send(this, *wait, check_controller{});
  }
}

void supervisor::lose_controller(const std::string& why) {
  callback_.ended();
  if (!actors_.controller) {
    return;
  }
  if (!is_ending()) {
    services_.log->warn("{}; the run continues without callbacks: nothing stops a model early or adds one any more",
                        why);
    send(actors_.reporter, controller_lost{why});
  }
  host_.erase(actors_.controller.address());
  send(actors_.controller, shut_down{});
  actors_.controller = nullptr;
  unacknowledged_ = 0;
  send_to_tasks(controller_lost{why});
  for (const auto model : phases_.trials(trial_wait::with_memory)) {
    phases_.set_trial(model, trial_wait::none);
  }
  for (const auto model : phases_.trials(trial_wait::paused)) {
    phases_.set_trial(model, trial_wait::none);
    if (!is_over()) {
      resume(model, nullptr);
    }
  }
  end_if_over();
  end_reporter_if_alone();
}

void supervisor::end_if_over() {
  note_wait();
  const bool awaits_command = (phases_.paused() > 0 || setup_.begin_paused) && !is_over();
  const bool may_continue = phases_.running() > 0 || !queue_.empty() || awaits_command || unacknowledged_ > 0;
  if (may_continue || is_ending()) {
    return;
  }
  stage_ = run_stage::ending;
  send_to_tasks(shut_down{});
  send(actors_.scheduler, shut_down{});
  for (const auto& device : actors_.devices) {
    send(device, shut_down{});
  }
  end_host_if_devices_are_gone();
}

void supervisor::end_host_if_devices_are_gone() {
  if (!alive_.empty() || stage_ == run_stage::ending_host) {
    return;
  }
  stage_ = run_stage::ending_host;
  each_that_ends_late(actors_, [this](const auto& actor) { send(actor, shut_down{}); });
  end_reporter_if_alone();
}

void supervisor::end_reporter_if_alone() {
  if (stage_ == run_stage::ending_host && host_.empty()) {
    send(actors_.reporter, shut_down{});
    quit();
  }
}

}  // namespace hydra
