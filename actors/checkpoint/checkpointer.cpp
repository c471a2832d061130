#include "actors/checkpoint/checkpointer.hpp"

#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "runtime/trace/trace.hpp"

#include <set>
#include <utility>

namespace hydra {

namespace {

/// CHECKPOINTER: saves models, one after the other, on a thread of its own.
class checkpointer final : public checkpoint_actor::base {
 public:
  using super = checkpoint_actor::base;

  checkpointer(caf::actor_config& config, run_services services, checkpointer_setup setup)
      : super(config), services_(std::move(services)), setup_(std::move(setup)) {}

  static constexpr const char* actor_name = "checkpointer";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &checkpointer::on_save_model), guarded(this, &checkpointer::on_shut_down)};
  }

  void on_exit() override { setup_ = {}; }

  void on_fault(const fault& why) {
    services_.log->error("checkpointer fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  /// A failure is an answer, too: the checkpoint before is still there, and the run continues.
  void on_save_model(const save_model& m) {
    const auto begin = clock().now();
    const auto why = save(m);
    if (!why) {
      send(setup_.observer,
           checkpoint_saved{m.model, m.what->name, m.standing.next.step, m.best});  // before its task ends
    }
    if (services_.spans) {
      services_.spans->record({"save_model", "host checkpoints", begin, clock().now(), m.what->name});
    }
    const model_saved message{m.model, why, clock().now() - begin, m.best};
    send(setup_.optimizer, message);
    send(setup_.memory, message);
    send(setup_.reporter, message);
    send(m.task, message);
  }

  fault save(const save_model& m) {
    try {
      const model_checkpoint c{m.what, std::exchange(*m.memory, {}), m.standing, m.best};
      setup_.store->save(c, [&](shard_index shard) {
        send(setup_.optimizer, shard_saved{m.model, shard});
        send(setup_.reporter, shard_saved{m.model, shard});
      });
      if (failing_.erase(m.model) > 0) {
        services_.log->warn("checkpoints of {} can be written again", m.what->name);
      }
      return {};
    } catch (...) {
      const auto why = to_fault(std::current_exception());
      if (failing_.insert(m.model).second) {
        services_.log->warn("no checkpoint of {}: {}", m.what->name, why.text);
      }
      return why;
    }
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  checkpointer_setup setup_;
  std::set<model_id> failing_;   ///< reported once
};

}  // namespace

checkpoint_actor spawn_checkpointer(caf::actor_system& system, const run_services& services,
                                    const checkpointer_setup& setup, bool detached) {
  if (!setup.store) {
    return {};
  }
  return spawn_detached_if<checkpointer>(detached, system, services, setup);
}

}  // namespace hydra
