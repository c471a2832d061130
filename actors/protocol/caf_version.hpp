#pragma once
// The only place (with the actors themselves) that depends on the version of CAF. Written for CAF 0.17.6.

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace caf {

/// CAF 0.17 supports only its own optional. Found by argument-dependent lookup through the inspector.
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, std::optional<T>& x) {
  bool there = x.has_value();
  T value = x.value_or(T{});
  if constexpr (Inspector::writes_state) {
    auto error = f(there, value);
    x = there ? std::optional<T>{std::move(value)} : std::nullopt;
    return error;
  } else {
    return f(there, value);
  }
}

}  // namespace caf

namespace hydra {

/// Inspects a message with a vector whose elements CAF would copy one at a time: `fields(size)` inspects the fields
/// with its size, then come its bytes. Refuses to read more than `most` elements.
template <class Inspector, class T, class Fields>
typename Inspector::result_type inspect_at_once(Inspector& f, std::vector<T>& values, std::uint64_t most,
                                                Fields fields) {
  std::uint64_t size = values.size();
  if constexpr (!std::is_same_v<typename Inspector::result_type, caf::error>) {
    return fields(size);
  } else {
    if (auto e = fields(size)) return e;
    if constexpr (Inspector::writes_state) {
      if (size > most) return caf::sec::invalid_argument;
      values.resize(size);
    }
    return f.apply_raw(values.size() * sizeof(T), values.data());
  }
}

/// Sends without a sender: from completion callbacks, which run on other threads, and from set-up code.
template <class Handle, class Message>
void post(const Handle& to, Message message) {
  caf::anon_send(to, std::move(message));
}

/// Ends an actor after the message that it is handling; messages still in its mailbox are dropped. Its on_exit runs.
template <class Handle>
void end_actor(const Handle& which) {
  if (which) {
    caf::actor_cast<caf::strong_actor_ptr>(which)->enqueue(
        nullptr, caf::make_message_id(caf::message_priority::high),
        caf::make_message(caf::exit_msg{which.address(), caf::exit_reason::kill}), nullptr);
  }
}

/// Calls `f` when the actor ends for any reason, after its on_exit; at once if it has ended.
template <class Handle, class F>
void at_end_of(const Handle& which, F f) {
  caf::actor_cast<caf::abstract_actor*>(which)->attach_functor(std::move(f));
}

}  // namespace hydra
