#include "actors/session/policy_registry.hpp"

#include "actors/plugin/named_item.hpp"
#include "actors/plugin/plugin.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/guarded_policy.hpp"
#include "actors/policy/limited_policy.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

const sought_kind policies{{plugin_kind::policy, plugin_kind::policy_by_actor}, "policy", "policies"};

/// Calls the item's factory.
template <class Made>
std::unique_ptr<Made> make(const plugin_item& item, const policy_options& given) {
  try {
    if (auto* made = static_cast<Made*>(item.make(&given))) {
      return std::unique_ptr<Made>{made};
    }
  } catch (...) {
    throw fault_error(fault_code::bad_input, fmt::format("policy \"{}\" of a plug-in: its constructor throws: {}",
                                                         item.name, to_fault(std::current_exception()).text));
  }
  throw fault_error(fault_code::bad_input, fmt::format("policy \"{}\": its plug-in has made none", item.name));
}

std::shared_ptr<const policy_actor_source> make_source(const plugin_item& item, const policy_options& given) {
  const std::shared_ptr source = make<policy_actor_source>(item, given);
  source->name = item.name;
  return source;
}

/// Policies of plug-ins run with time limits, unless they are trusted.
known_policy known(const plugin& from, const plugin_item& item, const policy_limits& limits) {
  known_policy k{.entry = {item.name, item.help, {}, nullptr}, .plugin = from.file};
  if (const auto* options = static_cast<const std::vector<option>*>(item.about.get())) {
    k.entry.options = *options;
  }
  if (item.kind == plugin_kind::policy_by_actor) {
    k.make_actor = [item](const policy_options& given) { return make_source(item, given); };
  } else {
    k.entry.make = [item, limits](const policy_options& given) -> std::unique_ptr<policy> {
      auto made = make<policy>(item, given);
      if (limits.trusted) {
        return std::make_unique<guarded_policy>(std::move(made), item.name);
      }
      return std::make_unique<limited_policy>(std::move(made), item.name, limits.decision);
    };
  }
  return k;
}

}  // namespace

known_policy policy_registry::find(const std::string& which) {
  if (names_plugin(which)) {
    const auto found = item_of_plugin(*plugins_, which, policies);
    return known(found.from, found.item, limits_);
  }
  const auto known_ones = all();
  std::vector<policy_entry> entries;
  std::ranges::transform(known_ones, std::back_inserter(entries), &known_policy::entry);
  const auto at = &find_policy(entries, which) - entries.data();
  return known_ones.at(static_cast<std::size_t>(at));
}

std::vector<known_policy> policy_registry::all() const {
  std::vector<known_policy> found;
  for (const auto& entry : built_in_policies()) {
    found.push_back({.entry = entry});
  }
  for (const auto& offered : offered_items(*plugins_, policies)) {
    found.push_back(known(offered.from, offered.item, limits_));
  }
  return found;
}

}  // namespace hydra
