#include "actors/run/admission.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/trace/trace.hpp"

#include <memory>
#include <utility>

namespace hydra {

namespace {

/// ADMISSION: prepares models that join, one after the other, on a thread of its own.
class admission final : public admission_actor::base {
 public:
  using super = admission_actor::base;

  admission(caf::actor_config& config, run_services services, model_maker make, supervisor_actor supervisor)
      : super(config), services_(std::move(services)), make_(std::move(make)), supervisor_(std::move(supervisor)) {}

  static constexpr const char* actor_name = "admission";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &admission::on_prepare_model), guarded(this, &admission::on_shut_down)};
  }

  void on_exit() override {
    make_ = nullptr;
    supervisor_ = nullptr;
  }

  void on_fault(const fault& why) {
    services_.log->error("admission fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  /// A failed preparation is an answer, too.
  void on_prepare_model(const prepare_model& m) {
    const auto begin = clock().now();
    model_prepared answer;
    try {
      answer.entry = std::make_shared<model_entry>(make_(m.request));
    } catch (...) {
      answer.why = to_fault(std::current_exception());
    }
    if (services_.spans) {
      services_.spans->record({"prepare_model", "host models", begin, clock().now(), m.request.what.name});
    }
    send(supervisor_, std::move(answer));
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  model_maker make_;
  supervisor_actor supervisor_;
};

}  // namespace

admission_actor spawn_admission(caf::actor_system& system, const run_services& services, model_maker make,
                                const supervisor_actor& supervisor, bool detached) {
  if (!make) {
    return {};
  }
  return spawn_detached_if<admission>(detached, system, services, std::move(make), supervisor);
}

}  // namespace hydra
