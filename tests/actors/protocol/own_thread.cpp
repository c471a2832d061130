#include "actors/protocol/own_thread.hpp"

#include "actors/protocol/system_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/queue_threads.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/scarce_threads.hpp"

#include <ATen/Parallel.h>
#include <caf/blocking_actor.hpp>
#include <caf/event_based_actor.hpp>
#include <catch2/catch.hpp>

#include <future>
#include <thread>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

class idle_actor final : public caf::event_based_actor {
 public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](int) {}};
  }
};

void do_nothing(caf::blocking_actor*) {}

/// Status 0 if the system begins and ends.
int begin_system(int threads) {
  const auto config = make_system_config();
  const scarce_threads left{threads};
  const caf::actor_system system{*config};
  return 0;
}

}  // namespace

// First of all: a child of a process that has had an actor system could not have LibTorch's pool of threads.
TEST_CASE("an actor whose thread others have taken ends the process with a message: its system would wait for ever") {
  const auto ends = [](auto spawn) {
    const auto end = in_child([spawn] {
      const auto config = make_system_config();
      caf::actor_system system{*config};
      const scarce_threads for_the_question{1};
      spawn(system);
      return 0;
    });
    CHECK(end.status == 1);
    CHECK_THAT(end.err, StartsWith("an actor that blocks: the system refuses a thread ("));
  };
  ends([](caf::actor_system& system) { spawn_on_own_thread<idle_actor>(system); });
  ends([](caf::actor_system& system) { run_on_own_thread(system, do_nothing); });
}

TEST_CASE("an actor system begins with the threads that it is said to have") {
  CHECK(in_child([] { return begin_system(threads_of_system); }).status == 0);
}

TEST_CASE(
    "a system that gets a part of its threads, which would crash or wait for ever, ends the process with a message") {
  for (int left = 0; left < static_cast<int>(threads_of_system); ++left) {
    INFO(left << " threads are left");
    const auto end = in_child([left] { return begin_system(left); });
    CHECK(end.status == 1);
    CHECK_THAT(end.err, StartsWith("the actor system: the system refuses a thread (") && Contains("ulimit -u"));
  }
}

TEST_CASE("an actor that blocks is refused where there is no thread for it, and its system ends") {
  const auto config = make_system_config();
  caf::actor_system system{*config};
  const no_more_threads none;
  const std::string why = "an actor that blocks needs 1 thread beside ";
  CHECK_THROWS_WITH(spawn_on_own_thread<idle_actor>(system), StartsWith(why));
  CHECK_THROWS_WITH(run_on_own_thread(system, do_nothing), StartsWith(why));
}

TEST_CASE("operations of LibTorch begin no threads on those of actors, whatever devices have set") {
  std::thread{[] { use_threads(4); }}.join();
  const auto config = make_system_config();
  caf::actor_system system{*config};
  std::promise<int> threads;
  run_on_own_thread(system, [&](caf::blocking_actor*) { threads.set_value(at::get_num_threads()); });
  CHECK(threads.get_future().get() == 1);
}
