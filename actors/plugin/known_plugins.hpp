#pragma once
// The plug-ins of a session: policies and devices of all of them are known by name.

#include "runtime/plugin/plugin.hpp"

#include <memory>

namespace hydra {

/// A set for plug-ins that were built for this Hydra, offer policies, policy actors or devices, and take no name that
/// Hydra has itself. None is loaded yet.
std::shared_ptr<plugin_set> make_plugin_set();

}  // namespace hydra
