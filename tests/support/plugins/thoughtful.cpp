#include <hydra/policy_actor.hpp>

#include <algorithm>

namespace {

/// The model with the most work left, after some thought.
class thoughtful final : public hydra::policy_actor::base {
 public:
  using hydra::policy_actor::base::base;

  behavior_type make_behavior() override {
    return {[this](const hydra::advice_wanted& m) {
      const auto longest = std::ranges::max_element(m.candidates, {}, &hydra::candidate::remaining);
      send(m.to, hydra::policy_advised{m.request, m.device.device, longest->next});
    }};
  }
};

hydra::policy_actor start(caf::actor_system& system, const hydra::policy_options&) {
  return system.spawn<thoughtful>();
}

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_policy_actor<start>("thoughtful", "an actor that decides as sharded-lrtf does")}};
  return &plugin;
}
