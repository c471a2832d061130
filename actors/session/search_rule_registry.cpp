#include "actors/session/search_rule_registry.hpp"

#include "actors/plugin/named_item.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra {

namespace {

const sought_kind search_rules{{plugin_kind::search_rule}, "rule of a search", "rules of a search"};

std::unique_ptr<search_rule> make(const plugin_item& item, const search_settings& settings) {
  try {
    if (auto* const made = static_cast<search_rule*>(item.make(&settings))) {
      return std::unique_ptr<search_rule>{made};
    }
  } catch (...) {
    throw fault_error(fault_code::bad_input, fmt::format("search rule \"{}\" of a plug-in: its constructor throws: {}",
                                                         item.name, to_fault(std::current_exception()).text));
  }
  throw fault_error(fault_code::bad_input, fmt::format("search rule \"{}\": its plug-in has made none", item.name));
}

known_search_rule known(const plugin_item& item) {
  const auto* const options = static_cast<const std::vector<option>*>(item.about.get());
  return {item.name, options ? *options : std::vector<option>{},
          [item](const search_settings& settings) { return make(item, settings); }};
}

}  // namespace

known_search_rule find_search_rule(plugin_set& plugins, const std::string& which) {
  if (names_plugin(which)) {
    return known(item_of_plugin(plugins, which, search_rules).item);
  }
  std::vector<std::string> names;
  for (const auto& offered : offered_items(plugins, search_rules)) {
    if (offered.item.name == which) {
      return known(offered.item);
    }
    names.push_back(offered.item.name);
  }
  throw fault_error(fault_code::bad_input,
                    names.empty() ? fmt::format("there is no rule \"{}\": no plug-in that offers one is loaded "
                                                "([run] plugins); its path does as well as its name",
                                                which)
                                  : fmt::format("there is no rule \"{}\"{}", which, known_instead(which, names)));
}

}  // namespace hydra
