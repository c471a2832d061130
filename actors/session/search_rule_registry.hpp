#pragma once
// Rules of a search that plug-ins offer, by name.

#include "actors/plugin/known_plugins.hpp"
#include "actors/selection/search_settings.hpp"
#include "runtime/base/option.hpp"

#include <string>
#include <vector>

namespace hydra {

struct known_search_rule {
  std::string name;
  std::vector<option> options;  ///< numbers
  search_rule_maker make;       ///< from settings with complete options
};

/// A rule of a plug-in that is loaded, "path/libx.so" that offers one rule, or "path/libx.so:name". Loads the plug-in
/// if necessary. Throws fault_error{bad_input}.
known_search_rule find_search_rule(plugin_set& plugins, const std::string& which);

}  // namespace hydra
