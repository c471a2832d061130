#pragma once
// Time that the calling thread has had on a core.

#include "runtime/base/bytes.hpp"

#include <chrono>
#include <ctime>

namespace hydra::test {

inline duration core_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + duration{t.tv_nsec};
}

}  // namespace hydra::test
