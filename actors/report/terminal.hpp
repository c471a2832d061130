#pragma once
// The terminal that a stream may be.

#include <cstddef>

namespace hydra {

struct terminal {
  bool live = false;       ///< it is one, and lines can be drawn over
  std::size_t width = 80;  ///< columns
  std::size_t height = 24;
};

/// What a file descriptor leads to. A terminal that calls itself dumb is none.
terminal terminal_of(int descriptor);

}  // namespace hydra
