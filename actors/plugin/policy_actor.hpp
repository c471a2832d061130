#pragma once
// Policies that are actors, <hydra/policy_actor.hpp>: slow or remote ones. They link CAF in addition to hydra::plugin.

#include "actors/plugin/plugin.hpp"
#include "actors/protocol/advice.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

static_assert(CAF_VERSION == HYDRA_CAF_VERSION, "this Hydra was built with another CAF: " HYDRA_CAF_VERSION_TEXT);

namespace hydra {

/// Where a run gets its policy actor from. The actor runs in an actor system of its own, which ends with the run: it
/// uses none of the run's threads, and if it blocks for ever it is abandoned together with its system.
struct policy_actor_source {
  std::string name;                                                 ///< in reports
  std::function<policy_actor(caf::actor_system&)> start;            ///< once, before any actor of the run
  bool outlives_run = false;                                        ///< it is not ended with the run (a remote actor)
  std::function<void(caf::actor_system_config&)> prepare{};         ///< of that system; loads CAF's network if needed
};

/// For a plug-in. `Start`: policy_actor (caf::actor_system&, const policy_options&). plugin_item::make returns a
/// policy_actor_source*, its options are policy_options, and `about` is a std::vector<option>.
template <policy_actor (*Start)(caf::actor_system&, const policy_options&)>
plugin_item offer_policy_actor(std::string name, std::string help, std::vector<option> options = {}) {
  const auto make = [](const void* given) -> void* {
    const auto& o = *static_cast<const policy_options*>(given);
    return new policy_actor_source{.name = {}, .start = [o](caf::actor_system& system) { return Start(system, o); }};
  };
  return {plugin_kind::policy_by_actor, std::move(name), std::move(help), make,
          std::make_shared<const std::vector<option>>(std::move(options))};
}

/// For both sides if a policy actor is reached over a network: registers the messages.
inline void add_policy_messages(caf::actor_system_config& config) {
  config.add_message_type<advice_wanted>("hydra::advice_wanted");
  config.add_message_type<policy_advised>("hydra::policy_advised");
}

}  // namespace hydra
