#include "runtime/device/cpu/core_wait.hpp"

#include "tests/support/core_time.hpp"

#include <catch2/catch.hpp>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <latch>
#include <thread>

using namespace hydra;

TEST_CASE("what a thread has waited is the second number of schedstat") {
  CHECK(wait_in("536275105 463875970 117\n") == duration{463875970});
  for (const auto* other : {"", "536275105", "536275105 ", "no numbers"}) CHECK(wait_in(other) == duration{});
}

TEST_CASE("of two threads that compute on one core at the same time at least one waits for it") {
  std::uint64_t on_core = 0;
  std::ifstream{"/proc/thread-self/schedstat"} >> on_core;
  if (on_core == 0) {
    WARN("this kernel does not count what threads wait");
    return;
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  CPU_ZERO(&allowed);
  CPU_SET(core, &allowed);
  std::latch both{2};
  std::array<duration, 2> waited{};
  const auto compute = [&](std::size_t i) {
    pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
    const core_wait waits;
    const auto first = waits.so_far();
    both.arrive_and_wait();
    const auto begin = test::core_time();
    while (test::core_time() - begin < std::chrono::milliseconds{30}) {
    }
    waited[i] = waits.so_far() - first;
  };
  std::thread other{[&] { compute(1); }};
  std::thread{[&] { compute(0); }}.join();
  other.join();
  CHECK(waited[0] >= duration{});
  CHECK(waited[1] >= duration{});
  CHECK(waited[0] + waited[1] > duration{});
}
