#include "actors/guarded.hpp"
#include "actors/spawn.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// SUPERVISOR: starts the run, hears of every death, ends the run: tasks -> scheduler -> devices -> optimizer, memory.
class supervisor final : public supervisor_actor::base {
 public:
  using super = supervisor_actor::base;

  supervisor(caf::actor_config& config, run_services services, duration callback_limit)
      : super(config), services_(std::move(services)), callback_limit_(callback_limit) {}

  static constexpr const char* actor_name = "supervisor";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    set_down_handler([this](caf::down_msg& m) { on_down(m); });
    return {guarded(this, &supervisor::on_crew_assembled), guarded(this, &supervisor::on_model_ended),
            guarded(this, &supervisor::on_device_given_up), guarded(this, &supervisor::on_controller_silent),
            guarded(this, &supervisor::on_interrupt_run),  guarded(this, &supervisor::on_run_aborted),
            guarded(this, &supervisor::on_run_stalled)};
  }

  void on_exit() override { crew_ = {}; }

  void on_fault(const fault& why) {
    services_.log->error("supervisor fails: {}", why.text);
    on_run_aborted({why});
  }

 private:
  void on_crew_assembled(const crew_assembled& m) {
    crew_ = m;
    crew_.supervisor = nullptr;  // a handle to itself would keep it alive
    const begin_run start{clock().now()};
    send(crew_.reporter, start);
    for (std::uint32_t i = 0; i < crew_.devices.size(); ++i) {
      monitor(crew_.devices[i]);
      alive_.insert(device_id{i});
      send(crew_.devices[i], start);
    }
    for (const auto& task : crew_.tasks) {
      monitor(task);
      send(task, start);
    }
    watch(crew_.scheduler);
    watch(crew_.memory);
    watch(crew_.optimizer);
    watch(crew_.data);
    if (crew_.controller) {
      watch(crew_.controller);
    }
    if (crew_.checkpointer) {
      watch(crew_.checkpointer);
    }
    running_ = crew_.tasks.size();
    end_if_over();
  }

  template <class Handle>
  void watch(const Handle& actor) {
    monitor(actor);
    host_.insert(actor.address());
  }

  void on_model_ended(const model_ended& m) {
    if (ended_.insert(m.model).second) {
      --running_;
    }
    end_if_over();
  }

  /// Who asks twice does not wait.
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
    for (const auto& task : crew_.tasks) {
      send(task, m);
    }
  }

  /// One that is being written may never be over.
  void drop_checkpoints() {
    if (crew_.checkpointer && host_.erase(crew_.checkpointer.address()) > 0) {
      end_actor(crew_.checkpointer);
    }
  }

  /// Who is asked before it hears of the halt says what it held when nothing went on.
  void on_run_stalled(const run_stalled& m) {
    const tell_state question{m.reporter};
    for (const auto& task : crew_.tasks) {
      send(task, question);
    }
    for (const auto& device : alive_) {
      send(crew_.devices[device.value], question);
    }
    send(crew_.scheduler, question);
    send(crew_.memory, question);
    send(crew_.optimizer, question);
    on_run_aborted({m.why, !std::exchange(stalled_, true)});
  }

  // -- deaths ----------------------------------------------------------------------------------------------------------

  void on_down(const caf::down_msg& m) {
    for (std::uint32_t i = 0; i < crew_.devices.size(); ++i) {
      if (crew_.devices[i].address() == m.source) {
        on_device_down(device_id{i});
        return;
      }
    }
    for (std::uint32_t i = 0; i < crew_.tasks.size(); ++i) {
      if (crew_.tasks[i].address() == m.source) {
        on_model_ended({model_id{i}, 0, false, {fault_code::internal, "its task died"}, {}});
        return;
      }
    }
    if (crew_.controller && crew_.controller.address() == m.source) {
      lose_controller("its actor is gone");
      return;
    }
    const bool awaited = host_.erase(m.source) > 0;  // not a controller that was given up
    if (awaited && !ending_) {
      on_run_aborted({{fault_code::internal, "an actor of the run died; the log names it"}});
    }
    end_reporter_if_alone();
  }

  void on_device_down(device_id device) { lose(device, {fault_code::device_lost, "the device is gone"}); }

  /// Its DEVICE may still be well, what is behind it is not.
  void on_device_given_up(const device_given_up& m) {
    lose(m.device, m.why);
    end_actor(crew_.devices.at(m.device.value));
  }

  void lose(device_id device, const fault& why) {
    if (alive_.erase(device) == 0) {
      return;
    }
    if (ending_) {
      end_host_if_devices_are_gone();
      return;
    }
    services_.log->warn("device {} is lost ({}); its units go elsewhere", device.value, why.text);
    send(crew_.memory, device_lost{device, why});
    if (alive_.empty()) {
      on_run_aborted({{fault_code::device_lost, "the last device is gone: " + why.text}, true});
    }
  }

  void on_controller_silent(const controller_silent& m) {
    lose_controller("a callback has not returned for " + to_string(m.lasted));
  }

  /// Once. It may still be in a callback: nobody waits for it any more.
  void lose_controller(const std::string& why) {
    if (!crew_.controller) {
      return;
    }
    if (!ending_) {
      services_.log->warn("the controller is lost ({}); the run goes on without callbacks", why);
    }
    host_.erase(crew_.controller.address());
    send(crew_.controller, shut_down{});
    crew_.controller = nullptr;
    for (const auto& task : crew_.tasks) {
      send(task, controller_lost{});
    }
    end_reporter_if_alone();
  }

  // -- the end ---------------------------------------------------------------------------------------------------------

  void end_if_over() {
    if (running_ > 0 || std::exchange(ending_, true)) {
      return;
    }
    for (const auto& task : crew_.tasks) {
      send(task, shut_down{});
    }
    send(crew_.scheduler, shut_down{});
    for (const auto& device : crew_.devices) {
      send(device, shut_down{});
    }
    end_host_if_devices_are_gone();
  }

  void end_host_if_devices_are_gone() {
    if (!alive_.empty() || std::exchange(host_ended_, true)) {
      return;
    }
    send(crew_.optimizer, shut_down{});
    send(crew_.memory, shut_down{});
    send(crew_.data, shut_down{});
    if (crew_.controller) {
      send(crew_.controller, shut_down{});
      if (callback_limit_ > duration{}) {
        delayed_send(this, callback_limit_, controller_silent{callback_limit_});
      }
    }
    if (crew_.checkpointer) {
      send(crew_.checkpointer, shut_down{});
    }
    end_reporter_if_alone();
  }

  /// Last: everybody has said what there was to say.
  void end_reporter_if_alone() {
    if (host_ended_ && host_.empty()) {
      send(crew_.reporter, shut_down{});
      quit();
    }
  }

  run_services services_;
  duration callback_limit_;
  crew_assembled crew_;
  std::set<device_id> alive_;
  std::set<caf::actor_addr> host_;        ///< scheduler, memory, optimizer, data, controller, checkpointer that live
  std::set<model_id> ended_;
  std::size_t running_ = 0;
  bool interrupted_ = false;
  bool stalled_ = false;
  bool halting_ = false;
  bool ending_ = false;
  bool host_ended_ = false;
};

}  // namespace

supervisor_actor spawn_supervisor(caf::actor_system& system, const run_services& services, duration callback_limit) {
  return system.spawn<supervisor>(services, callback_limit);
}

}  // namespace hydra
