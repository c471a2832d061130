// How units fail on a device: each once, with its cause, without leaks.

#include "tests/support/pipeline_bench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;

namespace {

const fault broken{fault_code::internal, "broken by the test"};

/// The unit failed once, with this fault.
void check_failed(const pipeline_bench& b, const unit& u, fault_code why) {
  INFO(to_string(u));
  CHECK(b.port.ends_of(u) == 1);
  REQUIRE(b.port.failure_of(u) != nullptr);
  CHECK(b.port.failure_of(u)->code == why);
}

void check_nothing_left(const pipeline_bench& b, std::uint32_t credits) {
  INFO(b.pipeline.describe());
  CHECK(b.pipeline.quiet());
  CHECK(b.pipeline.visits() == 0);
  CHECK(b.port.credits() == credits);
}

void complete_copies_of(pipeline_bench& b, const std::string& unit_text) {
  for (const auto t : b.machine.all("prefetch_shard")) {
    if (b.machine.at(t).text.find(unit_text) != std::string::npos && b.machine.is_pending(t)) {
      b.machine.complete(t);
    }
  }
}

}  // namespace

// -- withdrawal -------------------------------------------------------------------------------------------------------

TEST_CASE("a unit withdrawn in any phase fails once, returns its credit and leaves nothing behind") {
  pipeline_bench b(64_KiB, {.double_buffer = GENERATE(true, false), .cache = GENERATE(true, false)});
  const bench_model m({.micro_batches = 2});
  const auto u = m.forward(0);
  const int phase = GENERATE(0, 1, 2, 3, 4);  // leasing, copying, running, between micro-batches, writing back
  b.place(m, u);
  if (phase > 0) b.grant(u);
  if (phase > 1) complete_copies_of(b, "forward 0");
  if (phase > 2) b.machine.complete("micro-batch 0");
  if (phase > 3) {
    b.grant(u);
    complete_copies_of(b, "forward 0");
    b.machine.complete("micro-batch 1");
  }
  b.pipeline.withdraw(u);
  b.run_out();
  INFO("phase " << phase);
  check_failed(b, u, fault_code::cancelled);
  check_nothing_left(b, 1);
}

TEST_CASE("a unit withdrawn before its execute_shard fails once, and that message is then ignored") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.pipeline.prefetch(m.forward(0));
  b.pipeline.withdraw(m.forward(0));
  check_failed(b, m.forward(0), fault_code::cancelled);
  b.pipeline.execute(m.forward(0), m.what(), 1);
  CHECK(b.port.questions.empty());
  check_failed(b, m.forward(0), fault_code::cancelled);
  check_nothing_left(b, 1);
  CHECK(b.pipeline.describe().empty());
}

TEST_CASE("a unit withdrawn while it waits for memory fails at once") {
  const bench_model a({.name = "a", .id = 0}), c({.name = "c", .id = 1});
  pipeline_bench b(6_KiB - 1_B);
  b.stage(a, a.forward(0));
  complete_copies_of(b, "a forward 0");
  b.place(c, c.forward(0));
  REQUIRE_FALSE(b.waits_for_lease(c.forward(0)));
  b.pipeline.withdraw(c.forward(0));
  check_failed(b, c.forward(0), fault_code::cancelled);
  b.run_out();
  check_nothing_left(b, 2);
}

TEST_CASE("a unit withdrawn behind a running one leaves that alone") {
  const bench_model a({.name = "a", .id = 0}), c({.name = "c", .id = 1});
  pipeline_bench b(64_KiB);
  b.stage(a, a.forward(0));
  complete_copies_of(b, "a forward 0");
  b.stage(c, c.forward(0));
  b.pipeline.withdraw(c.forward(0));
  CHECK(b.port.failures.empty());  // its operations are still to come
  b.run_out();
  check_failed(b, c.forward(0), fault_code::cancelled);
  CHECK(b.port.demotions == std::vector{a.forward(0)});
  check_nothing_left(b, 2);
}

TEST_CASE("a unit that has ended, or was never here, is withdrawn without a word") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.place(m, m.forward(0));
  b.run_out();
  b.pipeline.withdraw(m.forward(0));
  b.pipeline.withdraw(m.backward(1));
  CHECK(b.port.failures.empty());
  check_nothing_left(b, 1);
}

TEST_CASE("a lease that is granted after the withdrawal is returned unused") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.place(m, m.forward(0));
  b.pipeline.withdraw(m.forward(0));
  CHECK(b.port.failures.empty());  // the answer to the lease may still arrive
  b.grant(m.forward(0));
  CHECK(b.port.returned.size() == 1);
  CHECK(b.machine.pending() == 0);
  check_failed(b, m.forward(0), fault_code::cancelled);
}

// -- operations and leases --------------------------------------------------------------------------------------------

TEST_CASE("a failing copy fails its unit, whose computation is skipped") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.forward(0));
  b.machine.complete("parameters of a forward 0", broken);
  b.run_out();
  check_failed(b, m.forward(0), fault_code::internal);
  CHECK(b.pipeline.counters().busy == duration{});
  CHECK(b.port.returned.size() == 1);
  check_nothing_left(b, 1);
  CHECK(b.pipeline.budget().used() == 0_B);  // a block that was not copied is not cached
}

TEST_CASE("a failing micro-batch fails its unit with its own cause, and the later ones are skipped") {
  pipeline_bench b(64_KiB);
  const bench_model m({.micro_batches = 3});
  b.stage(m, m.forward(0));
  b.grant(m.forward(0));
  complete_copies_of(b, "forward 0");
  REQUIRE(b.machine.has("micro-batch 1"));
  b.machine.complete("micro-batch 0", broken);
  b.run_out();
  check_failed(b, m.forward(0), fault_code::internal);
  CHECK(b.pipeline.counters().busy == std::chrono::microseconds{1});  // the first one alone
  check_nothing_left(b, 1);
}

TEST_CASE("the successor of a failing computation fails as dependency_failed, after its cause") {
  pipeline_bench b(64_KiB, {.cache = GENERATE(true, false)});
  const bench_model m({});
  b.stage(m, m.forward(0));
  complete_copies_of(b, "forward 0");
  b.stage(m, m.backward(1));
  b.machine.complete("execute_shard a forward 0", broken);
  b.run_out();
  check_failed(b, m.forward(0), fault_code::internal);
  check_failed(b, m.backward(1), fault_code::dependency_failed);
  CHECK(b.port.failures.front().what == m.forward(0));
  check_nothing_left(b, 2);
}

TEST_CASE("the successor of a failing write-back fails too: its input will never be in host memory") {
  pipeline_bench b(64_KiB, {.cache = GENERATE(true, false)});
  const bench_model m({});
  b.stage(m, m.forward(0));
  complete_copies_of(b, "forward 0");
  b.stage(m, m.backward(1));
  complete_copies_of(b, "backward 1");
  b.machine.complete("execute_shard a forward 0");
  b.machine.complete("demote_shard activation", broken);
  b.run_out();
  check_failed(b, m.forward(0), fault_code::internal);
  check_failed(b, m.backward(1), fault_code::dependency_failed);
  check_nothing_left(b, 2);
}

TEST_CASE("a successor that arrives while its predecessor fails goes with it") {
  pipeline_bench b(64_KiB);
  const bench_model m({.micro_batches = 2});
  b.stage(m, m.forward(0));
  complete_copies_of(b, "forward 0");
  b.grant(m.forward(0));
  complete_copies_of(b, "forward 0");
  b.machine.complete("micro-batch 0");
  b.machine.complete(b.machine.all("demote_shard")[0], broken);
  REQUIRE(b.port.failures.empty());  // the second micro-batch computes
  b.place(m, m.backward(1));
  CHECK_FALSE(b.waits_for_lease(m.backward(1)));
  b.run_out();
  check_failed(b, m.forward(0), fault_code::internal);
  check_failed(b, m.backward(1), fault_code::dependency_failed);
  CHECK(b.port.failures.front().what == m.forward(0));
  check_nothing_left(b, 2);
}

TEST_CASE("a new attempt may come while the withdrawn one still computes") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.forward(0));
  complete_copies_of(b, "forward 0");
  b.pipeline.withdraw(m.forward(0));
  b.place(m, m.forward(0, 1));
  b.run_out();
  check_failed(b, m.forward(0), fault_code::cancelled);
  CHECK(b.port.demotions == std::vector{m.forward(0, 1)});
  check_nothing_left(b, 2);
}

TEST_CASE("another model's unit behind a failing one completes") {
  const bench_model a({.name = "a", .id = 0}), c({.name = "c", .id = 1});
  pipeline_bench b(64_KiB);
  b.stage(a, a.forward(0));
  complete_copies_of(b, "a forward 0");
  b.stage(c, c.forward(0));
  b.machine.complete("execute_shard a forward 0", broken);
  b.run_out();
  check_failed(b, a.forward(0), fault_code::internal);
  CHECK(b.port.demotions == std::vector{c.forward(0)});
  check_nothing_left(b, 2);
}

TEST_CASE("a unit that took over the bytes of a failing one fails as dependency_failed") {
  const bench_model a({.name = "a", .id = 0, .activation = 0_B}), c({.name = "c", .id = 1, .activation = 0_B});
  pipeline_bench b(6_KiB);  // P + C + W
  b.stage(a, a.forward(0));
  complete_copies_of(b, "a forward 0");
  b.stage(c, c.forward(0));
  REQUIRE(b.machine.has("execute_shard c forward 0"));
  b.machine.complete("execute_shard a forward 0", broken);
  b.run_out();
  check_failed(b, c.forward(0), fault_code::dependency_failed);
  check_nothing_left(b, 2);
}

TEST_CASE("a refused lease fails its unit") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.place(m, m.forward(0));
  b.refuse(m.forward(0), fault_code::refused);
  check_failed(b, m.forward(0), fault_code::refused);
  check_nothing_left(b, 1);
  CHECK(b.pipeline.budget().used() == 0_B);
}

TEST_CASE("a lease refused for a later micro-batch fails its unit when the earlier one has ended") {
  pipeline_bench b(64_KiB);
  const bench_model m({.micro_batches = 2});
  b.stage(m, m.forward(0));
  b.refuse(m.forward(0), fault_code::refused);
  CHECK(b.port.failures.empty());
  b.run_out();
  check_failed(b, m.forward(0), fault_code::refused);
  check_nothing_left(b, 1);
}

TEST_CASE("running out of memory empties the cache of blocks that are not in use") {
  const bench_model a({.name = "a", .id = 0}), c({.name = "c", .id = 1});
  pipeline_bench b(64_KiB);
  b.place(c, c.forward(0));
  b.run_out();
  REQUIRE(b.pipeline.budget().used() > 0_B);
  b.stage(a, a.forward(0));
  complete_copies_of(b, "a forward 0");
  b.machine.complete("execute_shard a forward 0", {fault_code::out_of_memory, "no memory"});
  b.run_out();
  check_failed(b, a.forward(0), fault_code::out_of_memory);
  check_nothing_left(b, 2);
  CHECK(b.pipeline.budget().used() == 0_B);
}

// -- the second attempt -----------------------------------------------------------------------------------------------

TEST_CASE("a second attempt takes nothing from the first") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.forward(0));
  complete_copies_of(b, "forward 0");
  b.machine.complete("execute_shard a forward 0");
  b.machine.complete("demote_shard activation", broken);
  b.stage(m, m.forward(0, 1));
  const auto again = b.machine.find("execute_shard a forward 0");
  b.stage(m, m.backward(1, 1));
  CHECK(b.machine.at(b.machine.find("execute_shard a backward 1")).waits_for(again));
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0, 1), m.backward(1, 1)});
  check_nothing_left(b, 3);
}
