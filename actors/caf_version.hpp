#pragma once
// The one place (with spawn.hpp) that knows how this CAF spells things. Written for CAF 0.17.6.

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/send.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace hydra {

/// Sends without a sender: from completion callbacks, which run on foreign threads, and from set-up code.
template <class Handle, class Message>
void post(const Handle& to, Message message) {
  caf::anon_send(to, std::move(message));
}

}  // namespace hydra
