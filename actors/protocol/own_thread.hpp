#pragma once
// Actors that block have a thread of their own. CAF counts such an actor before it makes the thread; if there is none,
// it would wait for the end of that actor for ever.

#include "actors/protocol/caf_version.hpp"
#include "runtime/base/thread_supply.hpp"

#include <utility>

namespace hydra {

/// As `system.spawn<Actor, caf::detached>(args...)`. Throws fault_error{bad_input} if no thread can be made; ends the
/// process if the last one is taken between question and spawn.
template <class Actor, class... Args>
auto spawn_on_own_thread(caf::actor_system& system, Args&&... args) {
  require_threads(1, "an actor that blocks");
  return begin_or_end_process("an actor that blocks", [&] {
    return system.spawn<Actor, caf::detached>(std::forward<Args>(args)...);
  });
}

/// With `detached` as that, else as `system.spawn<Actor>(args...)`.
template <class Actor, class... Args>
auto spawn_detached_if(bool detached, caf::actor_system& system, Args&&... args) {
  return detached ? spawn_on_own_thread<Actor>(system, std::forward<Args>(args)...)
                  : system.spawn<Actor>(std::forward<Args>(args)...);
}

/// The same as the first for a function of a caf::blocking_actor*, as `system.spawn<caf::detached>(work)`.
template <class Work>
auto run_on_own_thread(caf::actor_system& system, Work work) {
  require_threads(1, "an actor that blocks");
  return begin_or_end_process("an actor that blocks", [&] { return system.spawn<caf::detached>(std::move(work)); });
}

}  // namespace hydra
