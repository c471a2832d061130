#include "actors/plugin/known_plugins.hpp"

#include "actors/policy/catalog.hpp"
#include "runtime/plugin/plugin_abi.hpp"

namespace hydra {

std::shared_ptr<plugin_set> make_plugin_set() {
  plugin_terms terms{
      .abi = plugin_abi,
      .used = {plugin_kind::policy, plugin_kind::policy_by_actor, plugin_kind::device, plugin_kind::search_rule}};
  for (const auto& entry : built_in_policies()) {
    terms.own.emplace_back(plugin_kind::policy, entry.name);
  }
  terms.own.emplace_back(plugin_kind::device, "cpu");
  return std::make_shared<plugin_set>(std::move(terms));
}

}  // namespace hydra
