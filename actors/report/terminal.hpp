#pragma once
// Properties of the terminal behind a file descriptor.

#include <cstddef>

namespace hydra {

struct terminal {
  bool live = false;       ///< it is a terminal on which lines can be overwritten
  std::size_t width = 80;  ///< columns
  std::size_t height = 24;
};

/// The terminal of a file descriptor. TERM=dumb counts as no terminal.
terminal terminal_of(int descriptor);

}  // namespace hydra
