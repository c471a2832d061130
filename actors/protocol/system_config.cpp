#include "actors/protocol/system_config.hpp"

#include "runtime/base/thread_supply.hpp"
#include "runtime/device/cpu/queue_threads.hpp"

#include <caf/actor_system.hpp>
#include <caf/policy/work_sharing.hpp>
#include <caf/scheduler/coordinator.hpp>
#include <caf/thread_hook.hpp>

namespace hydra {

namespace {

/// A scheduler with a part of its threads cannot be destroyed.
class work_sharing_scheduler final : public caf::scheduler::coordinator<caf::policy::work_sharing> {
 public:
  using super = caf::scheduler::coordinator<caf::policy::work_sharing>;

  explicit work_sharing_scheduler(caf::actor_system& system) : super(system) {}

  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>) {
    return new work_sharing_scheduler(system);
  }

 protected:
  void start() override {
    begin_or_end_process("the actor system", [this] { super::start(); });
  }
};

/// Otherwise an actor would begin as many threads of LibTorch as the device that was made last.
class one_thread_for_operations final : public caf::thread_hook {
 public:
  void init(caf::actor_system&) override {}
  void thread_started() override { use_threads(1); }
  void thread_terminates() override {}
};

}  // namespace

std::unique_ptr<caf::actor_system_config> make_system_config() {
  auto config = std::make_unique<caf::actor_system_config>();
  config->set("scheduler.max-threads", 2);
  config->load<work_sharing_scheduler>();
  config->add_thread_hook<one_thread_for_operations>();
  return config;
}

}  // namespace hydra
