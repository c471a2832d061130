#include <hydra/policy_actor.hpp>

#include <condition_variable>
#include <mutex>

namespace {

/// Never returns from a request.
class blocking final : public hydra::policy_actor::base {
 public:
  using hydra::policy_actor::base::base;

  behavior_type make_behavior() override {
    return {[](const hydra::advice_wanted&) {
      std::mutex m;
      std::unique_lock lock{m};
      std::condition_variable never;
      never.wait(lock, [] { return false; });
    }};
  }
};

/// The first of several that block, more than there are threads.
hydra::policy_actor start(caf::actor_system& system, const hydra::policy_options&) {
  for (int i = 0; i < 4; ++i) {
    hydra::post(system.spawn<blocking>(), hydra::advice_wanted{});
  }
  return system.spawn<blocking>();
}

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {hydra::offer_policy_actor<start>("blocking", "")}};
  return &plugin;
}
