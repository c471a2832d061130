#include "actors/run/supervisor.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/run/launch.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// SUPERVISOR: starts the run, lets models join, is notified of every actor's death, ends the run: tasks -> scheduler
/// -> devices -> optimizer, memory.
class supervisor final : public supervisor_actor::base {
 public:
  using super = supervisor_actor::base;

  supervisor(caf::actor_config& config, run_services services, supervisor_setup setup)
      : super(config), services_(std::move(services)), setup_(std::move(setup)) {}

  static constexpr const char* actor_name = "supervisor";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    set_down_handler([this](caf::down_msg& m) { on_down(m); });
    return {guarded(this, &supervisor::on_actors_spawned), guarded(this, &supervisor::on_add_model),
            guarded(this, &supervisor::on_model_prepared), guarded(this, &supervisor::on_model_ended),
            guarded(this, &supervisor::on_model_drained), guarded(this, &supervisor::on_model_released),
            guarded(this, &supervisor::on_device_given_up), guarded(this, &supervisor::on_callback_began),
            guarded(this, &supervisor::on_callback_ended),  guarded(this, &supervisor::on_check_controller),
            guarded(this, &supervisor::on_controller_failed),
            guarded(this, &supervisor::on_interrupt_run),  guarded(this, &supervisor::on_run_aborted),
            guarded(this, &supervisor::on_run_stalled)};
  }

  /// At any end: actors of the run that launch() does not know end with it, and a preparation is cancelled.
  void on_exit() override {
    if (!ending_ && setup_.halted) {
      setup_.halted();
    }
    for (const auto& task : actors_.tasks) {
      end_actor(task);
    }
    actors_ = {};
    asked_.clear();  // callers that wait for an answer are notified that there is none
  }

  void on_fault(const fault& why) {
    services_.log->error("supervisor fails: {}", why.text);
    on_run_aborted({why, !std::exchange(failed_, true)});
  }

 private:
  void on_actors_spawned(const actors_spawned& m) {
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
    watch(actors_.scheduler);
    watch(actors_.memory);
    watch(actors_.optimizer);
    watch(actors_.data);
    if (actors_.controller) {
      watch(actors_.controller);
    }
    if (actors_.checkpointer) {
      watch(actors_.checkpointer);
    }
    if (actors_.admission) {
      watch(actors_.admission);
    }
    running_ = actors_.tasks.size() - ended_.size();
    end_if_over();
  }

  // -- models that join ------------------------------------------------------------------------------------------------

  /// Models are prepared one after the other.
  void on_add_model(const add_model& m) {
    if (!actors_.admission || halted_ || ending_) {
      refuse(m, {fault_code::refused, "model '" + m.what.name + (halted_ ? "': the run is being halted" : "': the run has ended")});
      return;
    }
    asked_.push_back(m);
    if (asked_.size() == 1) {
      prepare_next();
    }
  }

  void prepare_next() {
    if (!asked_.empty()) {
      released_when_asked_ = released_.size();
      send(actors_.admission, prepare_model{asked_.front().what, released_});
    }
  }

  void on_model_prepared(const model_prepared& m) {
    if (asked_.empty()) {
      return;  // it was refused when the run was halted
    }
    const bool no_room = m.why.code == fault_code::does_not_fit || m.why.code == fault_code::out_of_memory;
    if (no_room && memory_is_coming_back()) {
      return;
    }
    const auto asked = std::move(asked_.front());
    asked_.pop_front();
    try_to_join(asked, m);
    prepare_next();
    end_if_over();
  }

  /// A model that does not fit waits for the memory of models that have ended: it is prepared again, now or when more
  /// memory is free.
  bool memory_is_coming_back() {
    if (released_.size() > released_when_asked_) {
      prepare_next();
      return true;
    }
    return waits_for_memory_ = released_.size() < ended_.size();
  }

  void try_to_join(const add_model& asked, const model_prepared& m) {
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

  void join(const add_model& asked, model_entry entry) {
    const model_id id{static_cast<std::uint32_t>(actors_.tasks.size())};
    for (auto& [block, bytes] : entry.memory.boundaries) {
      block.model = id;
    }
    const auto task = spawn_task(id, entry);
    const register_model home{id, entry.what, std::exchange(entry.memory, {}), entry.standing.step, entry.standing.unit, task};
    send(actors_.reporter, model_joined{id, entry});
    send(actors_.memory, home);
    send(actors_.data, model_joined{id, entry});
    send(task, begin_run{began_});
    services_.log->info("model {} joins the run", entry.what->name);
    if (asked.answer) {
      asked.answer({id, task, {}});
    }
  }

  task_actor spawn_task(model_id id, const model_entry& entry) {
    auto setup = task_setup_of(id, entry, actors_);
    setup.supervisor = caf::actor_cast<supervisor_actor>(this);
    setup.checkpoints = {setup_.checkpoints.every_steps, setup_.checkpoints.every, setup_.checkpoints.every};
    const auto task = spawn_model_task(system(), services_, setup);
    monitor(task);
    actors_.tasks.push_back(task);
    ++running_;
    return task;
  }

  void refuse(const add_model& asked, const fault& why) {
    services_.log->warn("not added: {}", why.text);
    send(actors_.reporter, model_refused{asked.what.name, why});
    if (asked.answer) {
      asked.answer({{}, {}, why});
    }
  }

  /// All models that wait to join are refused now. ADMISSION ends only after its current preparation, which `halted`
  /// cuts short.
  void refuse_all(const fault& why) {
    if (!std::exchange(halted_, true) && setup_.halted) {
      setup_.halted();
    }
    for (const auto& asked : std::exchange(asked_, {})) {
      refuse(asked, {fault_code::refused, "model '" + asked.what.name + "': the run is being halted: " + why.text});
    }
  }

  // -- what ends a run -------------------------------------------------------------------------------------------------

  template <class Handle>
  void watch(const Handle& actor) {
    monitor(actor);
    host_.insert(actor.address());
  }

  void on_model_ended(const model_ended& m) {
    if (!ended_.insert(m.model).second) {
      return;
    }
    --running_;
    if (!m.why) {
      finished_.insert(m.model);
    }
    end_if_over();
    release_if_over(m.model);
  }

  // -- memory of models that have ended --------------------------------------------------------------------------------

  void on_model_drained(const model_drained& m) {
    drained_.insert(m.model);
    release_if_over(m.model);
  }

  /// Models that end with the run keep their memory until then.
  void release_if_over(model_id model) {
    if (ended_.contains(model) && drained_.contains(model) && !ending_ && releases_.insert(model).second) {
      send(actors_.memory, release_model{model, finished_.contains(model)});
    }
  }

  void on_model_released(const model_released& m) {
    released_.insert(m.model);
    for (const auto& device : alive_) {
      send(actors_.devices[device.value], m);
    }
    send(actors_.data, m);
    send(std::exchange(actors_.tasks.at(m.model.value), nullptr), shut_down{});
    if (std::exchange(waits_for_memory_, false)) {
      prepare_next();
    }
  }

  // -- halting ---------------------------------------------------------------------------------------------------------

  /// The second interrupt ends the run without saving.
  void on_interrupt_run(const interrupt_run&) {
    on_run_aborted({{fault_code::interrupted, "the run was interrupted"}, !std::exchange(interrupted_, true)});
  }

  /// The first reason halts the run; later ones matter only if nothing is to be saved any more.
  void on_run_aborted(const run_aborted& m) {
    if (m.save && std::exchange(halting_, true)) {
      return;
    }
    if (!m.save) {
      drop_checkpoints();
    }
    refuse_all(m.why);
    for (const auto& task : actors_.tasks) {
      send(task, m);
    }
    if (!actors_.tasks.empty()) {
      end_if_over();  // the run may only have waited for a model to be added
    }
  }

  /// A checkpoint that is being written may hang.
  void drop_checkpoints() {
    if (actors_.checkpointer && host_.erase(actors_.checkpointer.address()) > 0) {
      end_actor(actors_.checkpointer);
    }
  }

  /// Actors are asked before they are notified of the halt: they report their state while there was no progress.
  void on_run_stalled(const run_stalled& m) {
    const report_state question{m.reporter};
    for (const auto& task : actors_.tasks) {
      send(task, question);
    }
    for (const auto& device : alive_) {
      send(actors_.devices[device.value], question);
    }
    send(actors_.scheduler, question);
    send(actors_.memory, question);
    send(actors_.optimizer, question);
    on_run_aborted({m.why, !std::exchange(stalled_, true)});
  }

  // -- deaths ----------------------------------------------------------------------------------------------------------

  void on_down(const caf::down_msg& m) {
    for (std::uint32_t i = 0; i < actors_.devices.size(); ++i) {
      if (actors_.devices[i].address() == m.source) {
        on_device_down(device_id{i});
        return;
      }
    }
    for (std::uint32_t i = 0; i < actors_.tasks.size(); ++i) {
      if (actors_.tasks[i].address() == m.source) {
        on_task_down(model_id{i});
        return;
      }
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
    if (awaited && !ending_) {
      const bool may_save = m.source == actors_.data.address() || (actors_.admission && m.source == actors_.admission.address());
      on_run_aborted({{fault_code::internal, "an actor of the run died; the log names it"}, may_save});
    }
    end_reporter_if_alone();
  }

  /// A task that had not reported the end of its model: its announced unit is not placed any more, those that wait on
  /// devices are withdrawn.
  void on_task_down(model_id model) {
    if (ended_.contains(model)) {
      return;
    }
    services_.log->error("the task of model {} has died", model.value);
    const fault why{fault_code::internal, "its task has died, which is an error of Hydra; the log may say more"};
    const model_ended message{model, 0, false, why, {}};
    send(actors_.scheduler, model_left{model});
    send(actors_.reporter, message);
    on_model_ended(message);
  }

  /// Nothing would detect a run without progress any more: the run is halted, within the stall limit.
  void on_reporter_down() {
    if (ending_) {
      return;
    }
    const fault why{fault_code::internal, "the reporter of the run has died"};
    services_.log->error("{}", why.text);
    on_run_aborted({why, true});
    if (setup_.stall_limit > duration{}) {
      delayed_send(this, setup_.stall_limit, run_aborted{why});
    }
  }

  void on_device_down(device_id device) { lose(device, {fault_code::device_lost, "the device is gone"}); }

  /// The DEVICE actor may still work, the device behind it does not.
  void on_device_given_up(const device_given_up& m) {
    lose(m.device, m.why);
    end_actor(actors_.devices.at(m.device.value));
  }

  void lose(device_id device, const fault& why) {
    if (alive_.erase(device) == 0) {
      return;
    }
    send(actors_.reporter, device_lost{device, why});
    if (ending_) {
      end_host_if_devices_are_gone();
      return;
    }
    services_.log->warn("device {} is lost ({}); its units move to other devices", device.value, why.text);
    send(actors_.memory, device_lost{device, why});
    if (alive_.empty()) {
      on_run_aborted({{fault_code::device_lost, "the last device is gone: " + why.text}, true});
    }
  }

  void on_callback_began(const callback_began& m) {
    callback_ = {m.what, clock().now()};
    watch_callback();
  }

  void on_callback_ended(const callback_ended&) { callback_.reset(); }

  /// One message to itself at a time, and only while a callback is under way.
  void watch_callback() {
    if (callback_ && setup_.callback_limit > duration{} && !std::exchange(checks_controller_, true)) {
      delayed_send(this, callback_->second + setup_.callback_limit - clock().now(), check_controller{});
    }
  }

  void on_check_controller(const check_controller&) {
    checks_controller_ = false;
    if (callback_ && clock().now() - callback_->second >= setup_.callback_limit) {
      lose_controller("a callback has not returned within " + to_string(setup_.callback_limit) + " after " + callback_->first);
    }
    watch_callback();
  }

  void on_controller_failed(const controller_failed& m) { lose_controller(m.why); }

  /// Once. It may still be in a callback: nothing waits for it any more.
  void lose_controller(const std::string& why) {
    callback_.reset();
    if (!actors_.controller) {
      return;
    }
    if (!ending_) {
      services_.log->warn("{}; the run continues without callbacks: nothing stops a model early or adds one any more",
                          why);
      send(actors_.reporter, controller_lost{why});
    }
    host_.erase(actors_.controller.address());
    send(actors_.controller, shut_down{});
    actors_.controller = nullptr;
    for (const auto& task : actors_.tasks) {
      send(task, controller_lost{why});
    }
    end_reporter_if_alone();
  }

  // -- the end ---------------------------------------------------------------------------------------------------------

  void end_if_over() {
    if (running_ > 0 || !asked_.empty() || std::exchange(ending_, true)) {
      return;
    }
    for (const auto& task : actors_.tasks) {
      send(task, shut_down{});
    }
    send(actors_.scheduler, shut_down{});
    for (const auto& device : actors_.devices) {
      send(device, shut_down{});
    }
    end_host_if_devices_are_gone();
  }

  void end_host_if_devices_are_gone() {
    if (!alive_.empty() || std::exchange(host_ended_, true)) {
      return;
    }
    send(actors_.optimizer, shut_down{});
    send(actors_.memory, shut_down{});
    send(actors_.data, shut_down{});
    if (actors_.admission) {
      send(actors_.admission, shut_down{});
    }
    if (actors_.controller) {
      send(actors_.controller, shut_down{});
    }
    if (actors_.checkpointer) {
      send(actors_.checkpointer, shut_down{});
    }
    end_reporter_if_alone();
  }

  /// Last: all actors have reported.
  void end_reporter_if_alone() {
    if (host_ended_ && host_.empty()) {
      send(actors_.reporter, shut_down{});
      quit();
    }
  }

  run_services services_;
  supervisor_setup setup_;
  actors_spawned actors_;                   ///< tasks of released models are null: messages to them are dropped
  time_point began_{};
  std::set<device_id> alive_;
  std::set<caf::actor_addr> host_;        ///< live ones of scheduler, memory, optimizer, data, controller, ...
  std::set<model_id> ended_;
  std::set<model_id> finished_;           ///< of these, those that did not fail
  std::set<model_id> drained_;            ///< have no unit on any device
  std::set<model_id> releases_;           ///< their memory must be freed
  std::set<model_id> released_;           ///< their memory has been freed
  std::deque<add_model> asked_;           ///< the first one is being prepared, or waits for memory
  std::size_t released_when_asked_ = 0;   ///< number of released models at its last preparation
  bool waits_for_memory_ = false;
  std::optional<std::pair<std::string, time_point>> callback_;   ///< the CONTROLLER's current callback, and its start
  bool checks_controller_ = false;        ///< a check_controller is under way
  std::size_t running_ = 0;
  bool halted_ = false;
  bool failed_ = false;                   ///< a handler has thrown: the next one ends the run at once
  bool interrupted_ = false;
  bool stalled_ = false;
  bool halting_ = false;
  bool ending_ = false;
  bool host_ended_ = false;
};

}  // namespace

supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services, const supervisor_setup& setup) {
  return system.spawn<supervisor>(services, setup);
}

}  // namespace hydra
