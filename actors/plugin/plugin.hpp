#pragma once
// The header of plug-ins, <hydra/plugin.hpp>: the table that a plug-in exports, its policies, devices and search rules.
// Headers only: a plug-in links no library of Hydra. Other functions of Hydra are resolved in the program that loads
// it.

#include "actors/policy/policy.hpp"
#include "actors/policy/policy_options.hpp"
#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_settings.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"
#include "runtime/plugin/plugin_abi.hpp"
#include "runtime/plugin/plugin_table.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// `Policy` is constructed from policy_options if possible, else without arguments. plugin_item::make returns a
/// policy*, its options are policy_options, and `about` is a std::vector<option>.
template <std::derived_from<policy> Policy>
plugin_item offer_policy(std::string name, std::string help, std::vector<option> options = {}) {
  const auto make = [](const void* given) -> void* {
    policy* made = nullptr;
    if constexpr (std::constructible_from<Policy, const policy_options&>) {
      made = new Policy(*static_cast<const policy_options*>(given));
    } else {
      made = new Policy();
    }
    return made;
  };
  return {plugin_kind::policy, std::move(name), std::move(help), make,
          std::make_shared<const std::vector<option>>(std::move(options))};
}

/// `Rule` is constructed from search_settings, whose `options` are complete. plugin_item::make returns a search_rule*,
/// its options are search_settings, and `about` is a std::vector<option> of numbers. `name`: the `rule` of [search].
template <std::derived_from<search_rule> Rule>
plugin_item offer_search_rule(std::string name, std::string help, std::vector<option> options = {}) {
  const auto make = [](const void* settings) -> void* {
    search_rule* made = new Rule(*static_cast<const search_settings*>(settings));
    return made;
  };
  return {plugin_kind::search_rule, std::move(name), std::move(help), make,
          std::make_shared<const std::vector<option>>(std::move(options))};
}

/// `Device` is constructed from a device_request. plugin_item::make returns a device*, its options are a
/// device_request, and `about` is a device_about. `name`: the `kind` of [[device]].
template <std::derived_from<device> Device>
plugin_item offer_device(std::string name, std::string help, device_about about = {}) {
  const auto make = [](const void* request) -> void* {
    device* made = new Device(*static_cast<const device_request*>(request));
    return made;
  };
  return {plugin_kind::device, std::move(name), std::move(help), make,
          std::make_shared<const device_about>(std::move(about))};
}

}  // namespace hydra
