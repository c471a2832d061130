#include "tests/support/scarce_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace hydra::test {

namespace {

constexpr int not_limited = -1;
constinit thread_local int threads_left = not_limited;
constinit std::atomic<bool> all_taken = false;

}  // namespace

scarce_threads::scarce_threads(int left) { threads_left = left; }
scarce_threads::~scarce_threads() { threads_left = not_limited; }

no_more_threads::no_more_threads() { all_taken = true; }
no_more_threads::~no_more_threads() { all_taken = false; }

/// Replaces the library's function, which it calls; a limit on processes does not apply to root.
extern "C" int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*life)(void*),
                              void* of) noexcept {
  static const auto of_library = reinterpret_cast<decltype(&::pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (all_taken || threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  return of_library(id, attributes, life, of);
}

}  // namespace hydra::test
