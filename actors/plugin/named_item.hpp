#pragma once
// What plug-ins offer, by name or by the path of the plug-in.

#include "runtime/plugin/plugin.hpp"

#include <string>
#include <vector>

namespace hydra {

/// What is looked for.
struct sought_kind {
  std::vector<plugin_kind> kinds;
  std::string one;      ///< "policy"
  std::string several;  ///< "policies"
};

struct offered_item {
  plugin from;
  plugin_item item;
};

/// Of the plug-ins that are loaded, in the order of loading.
std::vector<offered_item> offered_items(const plugin_set& plugins, const sought_kind& sought);

/// "path/libx.so", also of "path/libx.so:name".
std::string file_of_plugin(const std::string& which);

/// True for "path/libx.so" and "path/libx.so:name", false for a name.
bool names_plugin(const std::string& which);

/// The item that "path/libx.so" offers alone, or "path/libx.so:name" among several. Loads the plug-in if necessary.
/// Throws fault_error{bad_input}.
offered_item item_of_plugin(plugin_set& plugins, const std::string& which, const sought_kind& sought);

}  // namespace hydra
