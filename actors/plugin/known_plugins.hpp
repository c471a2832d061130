#pragma once
// The plug-ins of a session: their policies, devices and search rules are found by name.

#include "runtime/plugin/plugin.hpp"

#include <memory>

namespace hydra {

/// An empty set for plug-ins that were built for this Hydra, offer policies, policy actors, devices or search rules,
/// and use no name that Hydra uses itself.
std::shared_ptr<plugin_set> make_plugin_set();

}  // namespace hydra
