#pragma once
// Exceptions in message handlers: none may escape a handler (CAF would drop its text).

#include "runtime/base/fault.hpp"

#include <exception>

namespace hydra {

/// A message handler that calls a member of `self` and passes an exception to self->on_fault(fault).
template <class Self, class Message>
auto guarded(Self* self, void (Self::*handler)(const Message&)) {
  return [self, handler](const Message& message) {
    try {
      (self->*handler)(message);
    } catch (...) {
      self->on_fault(to_fault(std::current_exception()));
    }
  };
}

}  // namespace hydra
