#pragma once
// The table that a plug-in exports to the program that loads it. Standard library only.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// What a plug-in can offer.
enum class plugin_kind : std::uint32_t { policy = 1, policy_by_actor, search_rule, device, layer };

/// One thing that a plug-in offers.
struct plugin_item {
  plugin_kind kind = plugin_kind::policy;
  std::string name;
  std::string help{};                        ///< one line
  /// Creates one; the caller owns it. The kind defines what `options` and the result point to: its users have typed
  /// helpers for both sides (offer_policy in <hydra/plugin.hpp>). May throw.
  void* (*make)(const void* options) = nullptr;
  /// description of the item that is available before one is created; may be null
  std::shared_ptr<const void> about{};
};

}  // namespace hydra

/// Exists as long as the program. The first member is read before all others: they can be trusted only if both sides
/// were built from the same interfaces.
struct hydra_plugin {
  const char* abi = nullptr;                 ///< hydra::plugin_abi of the headers it was built with
  std::vector<hydra::plugin_item> items;
};

/// The one symbol that a plug-in exports.
extern "C" const hydra_plugin* hydra_plugin_v1();
