#pragma once
// The actors of a run by what they have in common.

#include "actors/protocol.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <optional>

namespace hydra {

/// Calls `f` with those that end behind SCHEDULER and DEVICES and before REPORTER, where they are there.
template <class F>
void each_that_ends_late(const actors_spawned& actors, F f) {
  const auto call = [&f](const auto& actor) {
    if (actor) {
      f(actor);
    }
  };
  call(actors.optimizer);
  call(actors.memory);
  call(actors.data);
  call(actors.admission);
  call(actors.controller);
  call(actors.checkpointer);
}

/// Position of the handle with this address.
template <class Handles>
std::optional<std::uint32_t> position_of(const Handles& handles, const caf::actor_addr& address) {
  for (std::uint32_t i = 0; i < handles.size(); ++i) {
    if (handles[i].address() == address) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace hydra
