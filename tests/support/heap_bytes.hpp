#pragma once
// Bytes in use of this process's heap: what malloc has given, and keeps for threads.

#include <malloc.h>

#include <cstddef>

namespace hydra::test {

inline std::size_t heap_bytes() {
  const auto m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

}  // namespace hydra::test
