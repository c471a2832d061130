#include "actors/guarded.hpp"
#include "actors/spawn.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// CONTROLLER of the session: calls the user's callbacks and tells the task what they asked for.
class callback_controller final : public controller_actor::base {
 public:
  using super = controller_actor::base;

  callback_controller(caf::actor_config& config, run_services services, std::vector<step_callback> callbacks,
                      supervisor_actor supervisor)
      : super(config),
        services_(std::move(services)),
        callbacks_(std::move(callbacks)),
        supervisor_(std::move(supervisor)) {}

  static constexpr const char* actor_name = "controller";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &callback_controller::on_step_observed), guarded(this, &callback_controller::on_shut_down)};
  }

  void on_exit() override {
    callbacks_.clear();
    supervisor_ = nullptr;
  }

  void on_fault(const fault& why) {
    services_.log->warn("a callback failed: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  void on_step_observed(const step_observed& m) {
    control wishes;
    for (const auto& call : callbacks_) {
      call(m.what, wishes);
    }
    for (const auto& model : wishes.added()) {
      send(supervisor_, add_model{model, nullptr});  // before the step is acknowledged: the run cannot end meanwhile
    }
    // A wish for another model takes effect at the boundary that model observes next.
    stopped_.insert(stopped_.end(), wishes.stopped().begin(), wishes.stopped().end());
    const bool stop = std::ranges::find(stopped_, m.what.model) != stopped_.end();
    send(m.task, step_acknowledged{m.what.step, stop});
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  std::vector<step_callback> callbacks_;
  supervisor_actor supervisor_;
  std::vector<model_id> stopped_;
};

}  // namespace

controller_actor spawn_controller(caf::actor_system& system, const run_services& services,
                                  std::vector<step_callback> callbacks, const supervisor_actor& supervisor, bool detached) {
  if (callbacks.empty()) {
    return {};
  }
  if (detached) {
    return system.spawn<callback_controller, caf::detached>(services, std::move(callbacks), supervisor);
  }
  return system.spawn<callback_controller>(services, std::move(callbacks), supervisor);
}

}  // namespace hydra
