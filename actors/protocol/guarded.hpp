#pragma once
// The border between actors and plain code: no exception may escape a handler (its text would be lost).

#include "runtime/base/fault.hpp"

#include <exception>

namespace hydra {

/// A message handler that calls a member of `self` and hands whatever it throws to self->on_fault(fault).
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
