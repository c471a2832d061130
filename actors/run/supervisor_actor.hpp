#pragma once
// SUPERVISOR: the actor. What starts a run and admits models is in supervisor.cpp, what ends it in supervisor_ends.cpp,
// commands from outside in supervisor_steering.cpp.

#include "actors/protocol.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/run/admission_queue.hpp"
#include "actors/run/callback_watch.hpp"
#include "actors/run/model_phases.hpp"
#include "actors/run/supervisor.hpp"
#include "actors/run/write_retry.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// In this order; a run that nobody halts skips the second.
enum class run_stage : std::uint8_t {
  training,
  halting,      ///< models are saved, none is added
  ending,       ///< no model has a task any more; tasks, SCHEDULER and DEVICES shut down
  ending_host,  ///< the devices are gone: what serves them shuts down, the REPORTER last
};

/// Of each the second occurrence ends the run without saving.
enum class abort_cause : std::uint8_t { handler_has_thrown, interrupt, stall };

/// SUPERVISOR: starts the run, admits, pauses and stops models, is notified of every death, ends the run: tasks ->
/// scheduler -> devices -> optimizer, memory.
class supervisor final : public supervisor_actor::base {
 public:
  using super = supervisor_actor::base;

  supervisor(caf::actor_config& config, run_services services, supervisor_setup setup)
      : super(config), services_(std::move(services)), setup_(std::move(setup)), callback_(setup_.callback_limit) {
    for (auto& m : setup_.models) {
      const model_id id{static_cast<std::uint32_t>(phases_.size())};
      phases_.add(std::move(m), setup_.waiting.contains(id) ? model_phase::waiting : model_phase::training);
    }
    setup_.models.clear();
  }

  static constexpr const char* actor_name = "supervisor";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    set_down_handler([this](caf::down_msg& m) { on_down(m); });
    return {guarded(this, &supervisor::on_actors_spawned),    guarded(this, &supervisor::on_add_model),
            guarded(this, &supervisor::on_model_prepared),    guarded(this, &supervisor::on_task_ended),
            guarded(this, &supervisor::on_model_drained),     guarded(this, &supervisor::on_model_released),
            guarded(this, &supervisor::on_device_given_up),   guarded(this, &supervisor::on_callback_began),
            guarded(this, &supervisor::on_callback_ended),    guarded(this, &supervisor::on_check_controller),
            guarded(this, &supervisor::on_controller_failed), guarded(this, &supervisor::on_steer_model),
            guarded(this, &supervisor::on_pause_failed),      guarded(this, &supervisor::on_trial_held),
            guarded(this, &supervisor::on_trial_decided),     guarded(this, &supervisor::on_interrupt_run),
            guarded(this, &supervisor::on_run_aborted),       guarded(this, &supervisor::on_run_stalled),
            guarded(this, &supervisor::on_read_status),       guarded(this, &supervisor::on_model_kept),
            guarded(this, &supervisor::on_trial_copied),      guarded(this, &supervisor::on_event_acknowledged),
            guarded(this, &supervisor::on_callback_failed),   guarded(this, &supervisor::on_checkpoint_saved),
            guarded(this, &supervisor::on_policy_replaced),   guarded(this, &supervisor::on_rule_decided),
            guarded(this, &supervisor::on_record_again),      guarded(this, &supervisor::on_make_room_again)};
  }

  /// However it ends: tasks that launch() does not know of end with it, and what is being prepared is given up.
  void on_exit() override {
    if (stage_ < run_stage::ending && setup_.halted) {
      setup_.halted();
    }
    for (const auto& task : actors_.tasks) {
      end_actor(task);
    }
    actors_ = {};
    queue_ = {};  // who waits for an answer learns by this that there will be none
    steered_.clear();
    kept_.clear();
  }

  void on_fault(const fault& why) {
    services_.log->error("supervisor fails: {}", why.text);
    on_run_aborted({why, is_first(abort_cause::handler_has_thrown)});
  }

  // -- messages -------------------------------------------------------------------------------------------------------
  void on_actors_spawned(const actors_spawned& m);
  void on_add_model(const add_model& m);
  void on_model_prepared(const model_prepared& m);
  void on_task_ended(const task_ended& m);
  void on_model_drained(const model_drained& m);
  void on_model_released(const model_released& m);
  /// The second interrupt ends the run without saving.
  void on_interrupt_run(const interrupt_run&);
  /// The first reason halts the run; later ones matter only if nothing is to be saved any more.
  void on_run_aborted(const run_aborted& m);
  /// Who is asked before it is notified of the halt reports what it held when there was no progress.
  void on_run_stalled(const run_stalled& m);
  /// The DEVICE actor may still work, the device behind it does not.
  void on_device_given_up(const device_given_up& m);
  void on_callback_began(const callback_began& m);
  void on_callback_ended(const callback_ended& m);
  void on_check_controller(const check_controller&);
  void on_controller_failed(const controller_failed& m);
  void on_steer_model(const steer_model& m);
  void on_pause_failed(const pause_failed& m);
  void on_trial_held(const trial_held& m);
  void on_trial_decided(const trial_decided& m);
  void on_trial_copied(const trial_copied& m) { send(actors_.controller, m); }
  void on_rule_decided(const rule_decided& m) { send(actors_.controller, m); }
  void on_record_again(const record_again& m) { send(actors_.controller, m); }
  void on_make_room_again(const make_room_again&);
  void on_read_status(const read_status& m);
  void on_model_kept(const model_kept& m);
  void on_event_acknowledged(const event_acknowledged&);
  void on_callback_failed(const callback_failed& m);
  void on_checkpoint_saved(const checkpoint_saved& m) { observe(m); }
  void on_policy_replaced(const policy_replaced& m) { observe(m); }

 private:
  template <class Message>
  void send_to_tasks(const Message& m) {
    for (const auto& task : actors_.tasks) {
      send(task, m);
    }
  }
  /// Those that are alive.
  template <class Message>
  void send_to_devices(const Message& m) {
    for (const auto& device : alive_) {
      send(actors_.devices[device.value], m);
    }
  }
  bool is_first(abort_cause cause) { return causes_.insert(cause).second; }
  bool is_ending() const { return stage_ >= run_stage::ending; }
  /// Nothing is added or resumed any more.
  bool is_over() const { return stage_ > run_stage::training; }
  /// Passes it to callbacks, if some subscribe to such events: the run does not end before they have returned.
  void observe(run_event what);
  void observe_end(const task_ended& m, model_phase how);
  /// Models are prepared one after the other.
  void prepare_next();
  void try_to_join(const wanted_admission& wanted, const model_prepared& m);
  void join(const wanted_admission& wanted, model_entry entry);
  task_actor spawn_task(model_id id, const model_entry& entry);
  void refuse(const wanted_admission& wanted, const fault& why);
  /// Who was added learns that its model has to wait.
  void notify_waiting();
  /// A model of the run that has no task ends.
  void end_without_task(model_id model, const fault& why);
  void steer_new(const steer_model& m);
  void stop(model_id model, const command_sink& sink);
  void pause(model_id model, const command_sink& sink, const pause_model& how = {});
  void pause_without_memory(model_id model);
  void drop(model_id model, const command_sink& sink);
  void stay_paused(model_id model, const command_sink& sink);
  void resume(model_id model, const command_sink& sink);
  void keep(model_id model, const command_sink& sink);
  fault cannot_save(model_id model, const char* wish) const;
  /// If a model waits for memory that no other is about to give back, a trial that waits for its decision does.
  void make_room();
  void try_later(model_id model);
  /// Says once that the run waits, and for what, when nothing but a command can continue it.
  void note_wait();
  /// One that begins paused also waits for more models, or for decisions that are made elsewhere.
  bool waits_for_command() const {
    return !is_over() && queue_.empty() && (setup_.begin_paused ? phases_.rest() : phases_.wait_for_command());
  }
  bool waits_for_decision(model_id model) const { return !is_over() && phases_.waits_for_decision(model); }
  /// What it waits for.
  std::string note_on(model_id model) const;
  /// A paused model waits for memory again.
  void admit_again(model_id model);
  /// Models that wait for memory; those that were added and have no id yet come last.
  void note_queue(std::vector<model_now>& models) const;
  fault objection(model_id model, const char* wish) const;
  using waiting_sinks = std::multimap<model_id, command_sink>;
  static void answer_all(waiting_sinks& sinks, model_id model, const fault& why);
  /// No answer waits for the one that is being prepared, but ADMISSION ends only when its preparation does: this is
  /// logged.
  void refuse_all(const fault& why);
  /// Models that end with the run keep their memory until then.
  void release_if_over(model_id model);
  /// Its description: it will not be admitted again. Of a run that begins paused, every model may be.
  void forget(model_id model);
  /// A checkpoint that is being written may hang.
  void drop_checkpoints();
  void on_down(const caf::down_msg& m);
  /// A task that had not reported the end of its model: its announced unit is not placed any more, those that wait on
  /// devices are withdrawn.
  void on_task_down(model_id model);
  /// Nobody would see any more whether the run continues: it is halted, and has as long for that as a run may stand
  /// still.
  void on_reporter_down();
  void lose(device_id device, const fault& why);
  /// One message to itself at a time, and only while a callback is under way.
  void watch_callback();
  /// Once. It may still be in a callback: nothing waits for it any more.
  void lose_controller(const std::string& why);
  void end_if_over();
  void end_host_if_devices_are_gone();
  /// Last: all actors have reported.
  void end_reporter_if_alone();

  run_services services_;
  supervisor_setup setup_;
  actors_spawned actors_;                   ///< tasks of released models are null: messages to them are dropped
  time_point began_{};
  std::set<device_id> alive_;
  std::set<caf::actor_addr> host_;          ///< SCHEDULER and those that end after it, while they are alive
  model_phases phases_;
  admission_queue queue_;
  std::set<model_id> unsaved_;  ///< trials that could not be saved to make room: they are not tried at once again
  write_retry room_retry_{duration{}};
  waiting_sinks steered_;                          ///< who waits until a model is paused
  waiting_sinks kept_;                             ///< who waits until a model is saved
  bool waits_ = false;                             ///< it was said that the run waits for a command
  bool commanded_ = false;  ///< since the last time that there was no progress: that counts as some
  callback_watch callback_;
  std::uint32_t unacknowledged_ = 0;               ///< events that callbacks have not returned from
  run_stage stage_ = run_stage::training;
  std::set<abort_cause> causes_;                   ///< that have occurred
};

}  // namespace hydra
