#pragma once
// Bytes of the process that are in memory. Threads and malloc keep some: for deep runs only (depth.hpp).

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace hydra::test {

inline std::size_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace hydra::test
