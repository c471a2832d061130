#pragma once
// The CAF options of a real run, set in code (CAF's own configuration files are not read).

#include <caf/actor_system_config.hpp>

#include <memory>

namespace hydra {

/// Work sharing on two threads: the default, work stealing, wakes up ten times later and uses CPU time while idle.
std::unique_ptr<caf::actor_system_config> make_system_config();

}  // namespace hydra
