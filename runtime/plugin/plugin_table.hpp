#pragma once
// What a plug-in shows to the program that loads it. Standard library only.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// What a plug-in can offer.
enum class plugin_kind : std::uint32_t { policy = 1, policy_by_actor, controller, device, layer };

/// One thing that a plug-in offers.
struct plugin_item {
  plugin_kind kind = plugin_kind::policy;
  std::string name;
  std::string help{};                        ///< one line
  /// Makes one; who calls it owns it. What `options` and the result point to, the kind says: its users have typed helpers
  /// for both sides (offer_policy in <hydra/plugin.hpp>). May throw.
  void* (*make)(const void* options) = nullptr;
  std::shared_ptr<const void> about{};       ///< what the kind says of its items before they are made; may be null
};

}  // namespace hydra

/// Lives as long as the program. Before anything else the first member is read: the other ones can be trusted only if
/// the two sides were built from the same interfaces.
struct hydra_plugin {
  const char* abi = nullptr;                 ///< hydra::plugin_abi of the headers that it was built with
  std::vector<hydra::plugin_item> items;
};

/// The one symbol that a plug-in defines.
extern "C" const hydra_plugin* hydra_plugin_v1();
