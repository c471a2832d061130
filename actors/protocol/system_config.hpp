#pragma once
// The CAF options of a real run, set in code (CAF's own configuration files are not read).

#include <caf/actor_system_config.hpp>

#include <cstddef>
#include <memory>

namespace hydra {

/// Threads that a system has before its first actor: two that run actors, its clock and its printer.
inline constexpr std::size_t threads_of_system = 4;

/// Work sharing on two threads: the default, work stealing, wakes up ten times later and uses CPU time while idle.
/// Operations of LibTorch begin no threads on those of the system. The constructor of a system ends the process where a
/// thread is missing: see that there are `threads_of_system` before.
std::unique_ptr<caf::actor_system_config> make_system_config();

}  // namespace hydra
