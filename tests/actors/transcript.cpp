// The story at the top of actors/protocol.hpp, message by message, in small simulated runs.

#include "actors/simulation/simulated_device.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;

/// One model of two shards and one step: F0, B1 (with the loss), B0. Its parameters take 10 us to move, a boundary 2.
simulated_model two_shards() {
  auto m = even_model("a", 2, 1, 20us, 10us);
  for (auto& s : m.shards) {
    s.backward = 40us;
    s.update = 5us;
    s.activation = bytes_of(2us);
  }
  return m;
}

/// Before each message: the text it adds to the transcript.
using listener = std::function<void(simulation&, const overheard&)>;

/// Every message in order, under the virtual time at which it is handled.
lines transcript(simulation& s, const listener& listen = {}) {
  lines all;
  const auto start = s.now();
  auto now = start - 1ns;
  do {
    const auto m = overhear(s);
    const auto said = m ? to_text(*m) : "";
    if (said.empty()) {
      continue;
    }
    if (now != s.now()) {
      now = s.now();
      all.push_back(fmt::format("{} us", std::chrono::duration_cast<std::chrono::microseconds>(now - start).count()));
    }
    all.push_back("  " + said);
    if (listen) {
      listen(s, *m);
    }
  } while (s.step());
  return all;
}

lines lines_of(const std::string& text) {
  lines all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) {
      all.push_back(line);
    }
  }
  return all;
}

/// The part of a transcript from the line that contains `first` to the one that contains `last`.
lines part(const lines& all, const std::string& first, const std::string& last) {
  const auto has = [](const std::string& what) {
    return [&what](const std::string& line) { return line.find(what) != std::string::npos; };
  };
  const auto from = std::find_if(all.begin(), all.end(), has(first));
  const auto to = std::find_if(from, all.end(), has(last));
  return {from, to == all.end() ? to : std::next(to)};
}

void check_equal(const lines& reported, const lines& expected) {
  for (std::size_t i = 0; i < std::max(reported.size(), expected.size()); ++i) {
    INFO("line " << i + 1);
    CHECK((i < reported.size() ? reported[i] : "(nothing)") == (i < expected.size() ? expected[i] : "(nothing)"));
  }
}

}  // namespace

TEST_CASE("the life of a unit, message by message", "[transcript]") {
  simulation s(even_run({two_shards()}, 1));
  check_equal(transcript(s), lines_of(R"(
0 us
  SUPERVISOR -> DEVICE 0 begin_run
  SUPERVISOR -> MODEL TASK 0 begin_run
  DEVICE 0 -> SCHEDULER device_freed 1 credit, idle
  MODEL TASK 0 -> SCHEDULER model_added 0
  MODEL TASK 0 -> DATA batch_wanted step 0
  DATA -> MEMORY MANAGER batch_ready step 0
  MEMORY MANAGER -> MODEL TASK 0 batch_ready step 0
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 forward 0
  SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 0 forward 0
  SCHEDULER -> MODEL TASK 0 unit_placed model 0 step 0 forward 0 on device 0
  MODEL TASK 0 -> DEVICE 0 execute_shard model 0 step 0 forward 0
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 backward 1 after device 0
  DEVICE 0 -> MEMORY MANAGER lease_shard model 0 step 0 forward 0: reads parameters 0 minibatch 0; lands activation 0
  MEMORY MANAGER -> DEVICE 0 shard_leased 1
10 us
  DEVICE 0 -> MEMORY MANAGER lease_returned 1
  DEVICE 0 -> SCHEDULER device_freed 1 credit, runs model 0 step 0 forward 0
  SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 0 backward 1
  SCHEDULER -> MODEL TASK 0 unit_placed model 0 step 0 backward 1 on device 0
  MODEL TASK 0 -> DEVICE 0 execute_shard model 0 step 0 backward 1
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 backward 0 after device 0
  DEVICE 0 -> MEMORY MANAGER lease_shard model 0 step 0 backward 1: reads parameters 1 targets 1; lands upstream 0 gradients 1 loss 1
  MEMORY MANAGER -> DEVICE 0 shard_leased 2
20 us
  DEVICE 0 -> MEMORY MANAGER lease_returned 2
30 us
  DEVICE 0 -> SCHEDULER device_freed 1 credit, runs model 0 step 0 backward 1
  SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 0 backward 0
  SCHEDULER -> MODEL TASK 0 unit_placed model 0 step 0 backward 0 on device 0
  MODEL TASK 0 -> DEVICE 0 execute_shard model 0 step 0 backward 0
  DEVICE 0 -> MEMORY MANAGER lease_shard model 0 step 0 backward 0: reads nothing; lands gradients 0
  MEMORY MANAGER -> DEVICE 0 shard_leased 3
32 us
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 0 forward 0
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 0 forward 0
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 0 forward 0
70 us
  DEVICE 0 -> SCHEDULER device_freed 1 credit, runs model 0 step 0 backward 0
82 us
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 0 backward 1
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 0 backward 1
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 0 backward 1
  MEMORY MANAGER -> OPTIMIZER step_shard 1 step 0
87 us
  OPTIMIZER -> MEMORY MANAGER shard_stepped 1 version 1
  MEMORY MANAGER -> MODEL TASK 0 shard_updated 1 version 1
110 us
  DEVICE 0 -> SCHEDULER device_freed 0 credit, idle
120 us
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 0 backward 0
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 0 backward 0
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 0 backward 0
  MEMORY MANAGER -> OPTIMIZER step_shard 0 step 0
125 us
  OPTIMIZER -> MEMORY MANAGER shard_stepped 0 version 1
  MEMORY MANAGER -> MODEL TASK 0 shard_updated 0 version 1
  MODEL TASK 0 -> SCHEDULER model_left 0
  MODEL TASK 0 -> SUPERVISOR task_ended 0 after 1 steps
  SUPERVISOR -> MODEL TASK 0 shut_down
  SUPERVISOR -> SCHEDULER shut_down
  SUPERVISOR -> DEVICE 0 shut_down
  SUPERVISOR -> OPTIMIZER shut_down
  SUPERVISOR -> MEMORY MANAGER shut_down
  SUPERVISOR -> DATA shut_down
)"));
}

TEST_CASE("an observed step is acknowledged before the next one is announced", "[transcript]") {
  auto m = two_shards();
  m.steps = 2;
  auto setup = even_run({m}, 1);
  setup.callbacks.add<step_completed>([](const step_completed&, control&) {});
  simulation s(std::move(setup));
  check_equal(part(transcript(s), "shard_demoted model 0 step 0 backward 0", "prefetch_shard model 0 step 1"),
              lines_of(R"(
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 0 backward 0
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 0 backward 0
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 0 backward 0
  MEMORY MANAGER -> OPTIMIZER step_shard 0 step 0
  MODEL TASK 0 -> CONTROLLER step_observed step 0
  CONTROLLER -> MODEL TASK 0 step_acknowledged step 0
125 us
  OPTIMIZER -> MEMORY MANAGER shard_stepped 0 version 1
  MEMORY MANAGER -> MODEL TASK 0 shard_updated 0 version 1
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 1 forward 0
  SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 1 forward 0
)"));
}

TEST_CASE("an observed evaluation is acknowledged, and the best state captured, before the next step starts",
          "[transcript]") {
  auto m = two_shards();
  m.steps = 2;
  m.evaluation = {.every = 1, .range = {.micro_batches = 1, .round = 1}};
  m.keep_best = true;
  memory_store store;
  auto setup = even_run({m}, 1);
  setup.checkpoints.store = &store;
  setup.callbacks.add<evaluation_completed>([](const evaluation_completed&, control&) {});
  simulation s(std::move(setup));
  check_equal(part(transcript(s), "shard_demoted model 0 step 1 evaluate 1", "unit_ready model 0 step 1 forward 0"),
              lines_of(R"(
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 1 evaluate 1
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 1 evaluate 1
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 1 evaluate 1
  MODEL TASK 0 -> CONTROLLER evaluation_observed after 1 steps
  MODEL TASK 0 -> MEMORY MANAGER capture_model 0
  CONTROLLER -> MODEL TASK 0 evaluation_acknowledged after 1 steps
  MEMORY MANAGER -> OPTIMIZER hold_updates 0
  OPTIMIZER -> MEMORY MANAGER updates_held 0
  MEMORY MANAGER -> MODEL TASK 0 model_captured 0
  MODEL TASK 0 -> CHECKPOINTER save_model 0 at step 1 unit 0, best
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 1 forward 0
)"));
}

TEST_CASE("the reporter gets each evaluation without those before it", "[transcript]") {
  auto m = two_shards();
  m.steps = 4;
  m.evaluation = {.every = 1, .range = {.micro_batches = 1, .round = 1}};
  simulation s(even_run({m}, 1));
  std::size_t notified = 0;
  do {
    const auto next = overhear(s);
    if (const auto* e = next ? next->get<evaluation_completed>() : nullptr; e && next->to.part == role::reporter) {
      ++notified;
      CHECK(e->history.empty());
    }
  } while (s.step());
  CHECK(notified == 4);
}

/// Its device dies when one unit computes and the next one is staged.
TEST_CASE("a model continues on another device when its device dies", "[transcript]") {
  simulation s(even_run({two_shards()}, 2));
  const auto reported = transcript(s, [](simulation& run, const overheard& m) {
    if (m.get<shard_leased>() && m.get<shard_leased>()->lease.value == 2 && m.to.place == 0) {
      caf::anon_send_exit(run.actors().devices[0], caf::exit_reason::kill);
    }
  });
  check_equal(part(reported, "device_lost", "lease_shard"), lines_of(R"(
  SUPERVISOR -> MEMORY MANAGER device_lost 0
  MEMORY MANAGER -> SCHEDULER device_lost 0
  SCHEDULER -> MODEL TASK 0 unit_lost model 0 step 0 forward 0, next attempt 1
  SCHEDULER -> MODEL TASK 0 unit_lost model 0 step 0 backward 1, next attempt 1
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 forward 0 attempt 1
  SCHEDULER -> DEVICE 1 prefetch_shard model 0 step 0 forward 0 attempt 1
  SCHEDULER -> MODEL TASK 0 unit_placed model 0 step 0 forward 0 attempt 1 on device 1
  MODEL TASK 0 -> DEVICE 1 execute_shard model 0 step 0 forward 0 attempt 1
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 backward 1 attempt 1 after device 1
  DEVICE 1 -> MEMORY MANAGER lease_shard model 0 step 0 forward 0 attempt 1: reads parameters 0 minibatch 0; lands activation 0
)"));
  CHECK(reported.back() == "  SUPERVISOR -> DATA shut_down");
}

/// The flights of a model that have not completed are all on one device, so it is a failed unit, not a lost device,
/// that leaves a later one on a device that is not lost.
TEST_CASE("a failed unit takes its staged successor with it", "[transcript]") {
  simulation s(even_run({two_shards()}, 1));
  s.device_at(0).inject([n = 0](queue_kind queue, const operation&) mutable {
    return queue == queue_kind::compute && n++ == 0 ? fault{fault_code::out_of_memory, "injected"} : fault{};
  });
  const auto reported = transcript(s);
  check_equal(part(reported, "shard_failed", "prefetch_shard"), lines_of(R"(
  DEVICE 0 -> MEMORY MANAGER shard_failed model 0 step 0 forward 0
  DEVICE 0 -> SCHEDULER device_freed 0 credit, idle
  MEMORY MANAGER -> SCHEDULER shard_failed model 0 step 0 forward 0
  SCHEDULER -> MODEL TASK 0 unit_lost model 0 step 0 forward 0, next attempt 1
  SCHEDULER -> MODEL TASK 0 unit_lost model 0 step 0 backward 1, next attempt 1
  SCHEDULER -> DEVICE 0 withdraw_unit model 0 step 0 backward 1
  MODEL TASK 0 -> SCHEDULER unit_ready model 0 step 0 forward 0 attempt 1
20 us
  DEVICE 0 -> MEMORY MANAGER lease_returned 2
  DEVICE 0 -> MEMORY MANAGER shard_failed model 0 step 0 backward 1
  DEVICE 0 -> SCHEDULER device_freed 1 credit, idle
  MEMORY MANAGER -> SCHEDULER shard_failed model 0 step 0 backward 1
  SCHEDULER -> DEVICE 0 prefetch_shard model 0 step 0 forward 0 attempt 1
)"));
  CHECK(reported.back() == "  SUPERVISOR -> DATA shut_down");
}

TEST_CASE("an interrupted model completes what computes, is saved, and all actors are shut down", "[transcript]") {
  memory_store store;
  auto setup = even_run({two_shards()}, 1);
  setup.checkpoints.store = &store;
  simulation s(std::move(setup));
  const auto reported = transcript(s, [](simulation& run, const overheard& m) {
    const auto* freed = m.get<device_freed>();
    if (freed && freed->running && freed->running->way == direction::forward) {
      post(run.actors().supervisor, interrupt_run{});
    }
  });
  check_equal(part(reported, "shard_demoted", "never"), lines_of(R"(
  DEVICE 0 -> MEMORY MANAGER shard_demoted model 0 step 0 forward 0
  DEVICE 0 -> MEMORY MANAGER shard_failed model 0 step 0 backward 1
  DEVICE 0 -> SCHEDULER device_freed 1 credit, idle
  MEMORY MANAGER -> SCHEDULER shard_completed model 0 step 0 forward 0
  MEMORY MANAGER -> SCHEDULER shard_failed model 0 step 0 backward 1
  MEMORY MANAGER -> MODEL TASK 0 shard_completed model 0 step 0 forward 0
  SCHEDULER -> MODEL TASK 0 unit_lost model 0 step 0 backward 1, next attempt 1
  MODEL TASK 0 -> MEMORY MANAGER capture_model 0
  MEMORY MANAGER -> OPTIMIZER hold_updates 0
  OPTIMIZER -> MEMORY MANAGER updates_held 0
  MEMORY MANAGER -> MODEL TASK 0 model_captured 0
  MODEL TASK 0 -> CHECKPOINTER save_model 0 at step 0 unit 1
  CHECKPOINTER -> OPTIMIZER shard_saved 1
  CHECKPOINTER -> OPTIMIZER shard_saved 0
  CHECKPOINTER -> OPTIMIZER model_saved 0
  CHECKPOINTER -> MEMORY MANAGER model_saved 0
  CHECKPOINTER -> MODEL TASK 0 model_saved 0
  MODEL TASK 0 -> SUPERVISOR task_ended 0 after 0 steps, failed
  SUPERVISOR -> MODEL TASK 0 shut_down
  SUPERVISOR -> SCHEDULER shut_down
  SUPERVISOR -> DEVICE 0 shut_down
  SUPERVISOR -> OPTIMIZER shut_down
  SUPERVISOR -> MEMORY MANAGER shut_down
  SUPERVISOR -> DATA shut_down
  SUPERVISOR -> CHECKPOINTER shut_down
)"));
  REQUIRE(store.of("a").size() == 1);
  CHECK(store.of("a")[0].standing.next.done(0) == 1);
}
