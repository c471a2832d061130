#include "runtime/streams/arena_memory.hpp"

#include "tests/support/gate.hpp"

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

using namespace hydra;
using namespace hydra::literals;
using hydra::test::gate;

namespace {

constexpr launch_point computation(std::uint64_t n) { return {queue_kind::compute, ticket{n}}; }

/// Addresses are numbers here: nothing is stored.
std::byte* nowhere() { return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20); }

std::shared_ptr<arena_memory> memory_of(byte_count n, byte_count beside = {}) {
  return std::make_shared<arena_memory>(nowhere(), n, nullptr, beside);
}

}  // namespace

TEST_CASE("a thread allocates from an arena while it launches for it") {
  const auto memory = memory_of(1_MiB, 3_MiB);
  REQUIRE_FALSE(current_pool());
  {
    const auto scope = memory->launch(computation(1));
    REQUIRE(current_pool() == memory);
    void* const p = current_pool()->allocate(1000);
    REQUIRE(p == nowhere());
    REQUIRE(memory->usage().used == 3_MiB + 1_KiB);
    current_pool()->release(p);
  }
  REQUIRE_FALSE(current_pool());
  REQUIRE(memory->usage().used == 3_MiB);
  REQUIRE(memory->usage().peak == 3_MiB + 1_KiB);
  REQUIRE(memory->usage().budget == 4_MiB);
}

TEST_CASE("an arena with nothing under way says what is missing") {
  const auto memory = memory_of(1_MiB);
  const auto scope = memory->launch(computation(1));
  void* const half = memory->allocate(512 << 10);
  REQUIRE(memory->try_allocate(1 << 20) == nullptr);
  REQUIRE_THROWS_WITH(memory->allocate(768 << 10), Catch::Contains("768.0 KiB are needed; of the device's 1.0 MiB, 512.0 KiB"));
  memory->release(half);
  REQUIRE(memory->usage().used == 0_B);
}

TEST_CASE("who launches ahead of the device waits for the bytes of what was launched before") {
  const auto memory = memory_of(1_MiB);
  void* held = nullptr;
  {
    const auto scope = memory->launch(computation(1));
    held = memory->allocate(1 << 20);
  }
  gate began;
  std::atomic<bool> got = false;
  std::thread ahead{[&] {
    const auto scope = memory->launch(computation(2));
    began.open();
    memory->release(memory->allocate(1 << 20));
    got = true;
  }};
  const bool waiting = began.wait();
  const bool early = got;
  memory->release(held);  // by a thread that launches nothing: it is known to be done
  memory->retire(computation(1));
  ahead.join();
  REQUIRE(waiting);
  REQUIRE_FALSE(early);
  REQUIRE(got);
}

TEST_CASE("nobody waits for an arena's bytes after the end") {
  const auto memory = memory_of(1_MiB);
  {
    const auto scope = memory->launch(computation(1));
    memory->allocate(1 << 20);
  }
  std::atomic<bool> refused = false;
  std::thread waiting{[&] {
    const auto scope = memory->launch(computation(2));
    try {
      memory->allocate(1 << 20);
    } catch (const c10::OutOfMemoryError&) {
      refused = true;
    }
  }};
  memory->give_up();
  waiting.join();
  REQUIRE(refused);
}
