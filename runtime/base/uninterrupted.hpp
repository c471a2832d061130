#pragma once
// System calls that signals may interrupt.

#include <cerrno>

namespace hydra {

/// Repeats a call that a signal has interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

}  // namespace hydra
