#include "actors/device/device_pipeline.hpp"

#include "tests/support/block_names.hpp"
#include "tests/support/pipeline_bench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;

namespace {

bool holds(const std::vector<block_id>& blocks, block_kind kind) {
  return std::ranges::find(blocks, kind, &block_id::kind) != blocks.end();
}

/// P 1024, C 4096, and no inputs or outputs: W = P.
even_model without_boundaries(const char* name, std::uint32_t id) {
  return {.name = name, .id = id, .activation = 0_B};
}
constexpr byte_count exactly_sufficient{1024 + 4096 + 1024};

/// A unit whose copies have ended: it computes.
void start(pipeline_bench& b, const bench_model& m, const unit& u) {
  b.stage(m, u);
  for (auto ready = b.machine.ready(); !ready.empty() && b.machine.at(ready[0]).queue == queue_kind::h2d;
       ready = b.machine.ready()) {
    b.machine.complete(ready[0]);
  }
}

}  // namespace

// -- staging ----------------------------------------------------------------------------------------------------------

TEST_CASE("a unit is staged when both its messages have come, whichever is first") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  const bool prefetch_first = GENERATE(true, false);
  prefetch_first ? b.pipeline.prefetch(m.forward(0)) : b.pipeline.execute(m.forward(0), m.what(), 1);
  CHECK(b.port.questions.empty());
  prefetch_first ? b.pipeline.execute(m.forward(0), m.what(), 1) : b.pipeline.prefetch(m.forward(0));
  CHECK(b.port.questions.size() == 1);
}

TEST_CASE("a lease asks for parameters and first inputs to read and for buffers of everything the unit produces") {
  pipeline_bench b(64_KiB);
  const bench_model m({.micro_batches = 2});
  const auto u = m.backward(1);
  b.place(m, u);
  REQUIRE(b.port.questions.size() == 1);
  const auto in = inputs_of(u, step_shape{.shards = 2}, micro_batch_index{0});
  CHECK(b.port.questions[0].reads == std::vector{parameters_of(u), in.input, *in.second});
  CHECK(b.port.questions[0].outputs == produced_by(u, step_shape{.shards = 2}));
}

TEST_CASE("what is read is copied, and the lease returned when the last copy has ended") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.backward(1));
  CHECK(b.machine.all("prefetch_shard").size() == 3);
  b.machine.complete("parameters of a backward 1");
  b.machine.complete("activation of a backward 1");
  CHECK(b.port.returned.empty());
  b.machine.complete("targets of a backward 1");
  CHECK(b.port.returned == std::vector{b.port.questions[0].lease});
}

TEST_CASE("parameters in the cache are not read again, nor are inputs") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  for (const auto& u : {m.forward(0), m.backward(1), m.backward(0)}) {
    b.place(m, u);
    b.run_out();
  }
  CHECK(b.port.demotions.size() == 3);
  CHECK(b.port.reads_of(m.backward(0)).empty());
  CHECK(b.pipeline.counters().hits == 1);
  CHECK(b.pipeline.counters().misses == 2);
}

TEST_CASE("without a cache everything is read again") {
  pipeline_bench b(64_KiB, {.cache = false});
  const bench_model m({});
  for (const auto& u : {m.forward(0), m.backward(1), m.backward(0)}) {
    b.place(m, u);
    b.run_out();
  }
  CHECK(b.port.reads_of(m.backward(0)).size() == 3);
  CHECK(b.pipeline.counters().hits == 0);
  CHECK(b.pipeline.budget().used() == 0_B);
}

TEST_CASE("a unit that does not fit next to the running one requests nothing until there is enough memory") {
  const bench_model a(without_boundaries("a", 0)), c(without_boundaries("c", 1));
  pipeline_bench b(exactly_sufficient - 1_B);
  start(b, a, a.forward(0));
  b.place(c, c.forward(0));
  CHECK_FALSE(b.waits_for_lease(c.forward(0)));
  b.machine.complete("execute_shard a forward 0");
  CHECK(b.waits_for_lease(c.forward(0)));
}

// -- computing --------------------------------------------------------------------------------------------------------

TEST_CASE("a staged unit is enqueued behind the running one by ticket and takes its input from there") {
  pipeline_bench b(64_KiB, {.cache = GENERATE(true, false)});
  const bench_model m({});
  start(b, m, m.forward(0));
  b.stage(m, m.backward(1));
  const auto running = b.machine.find("execute_shard a forward 0");
  const auto behind = b.machine.find("execute_shard a backward 1");
  CHECK(b.machine.is_pending(running));
  CHECK(b.machine.at(behind).waits_for(running));
  CHECK(b.machine.at(behind).waits_for(b.machine.find("parameters of a backward 1")));
  CHECK_FALSE(holds(b.port.reads_of(m.backward(1)), block_kind::activation));
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0), m.backward(1)});
  CHECK(b.pipeline.quiet());
}

TEST_CASE("the bytes to compute pass to the unit behind, which waits for the write-back copies by ticket") {
  const bench_model a(without_boundaries("a", 0)), c(without_boundaries("c", 1));
  pipeline_bench b(exactly_sufficient);
  start(b, a, a.forward(0));
  b.stage(c, c.forward(0));
  const auto behind = b.machine.find("execute_shard c forward 0");
  CHECK(b.machine.is_pending(b.machine.find("execute_shard a forward 0")));
  CHECK(b.machine.at(behind).waits_for(b.machine.find("demote_shard activation of a forward 0")));
  CHECK(b.pipeline.budget().used() == exactly_sufficient);
  b.run_out();
  CHECK(b.port.demotions.size() == 2);
  CHECK(b.pipeline.quiet());
}

TEST_CASE("bytes that are free when a unit has computed pass to the unit behind without waiting for its write-back") {
  auto small = without_boundaries("a", 0);
  small.write_back = 1_KiB;
  const bench_model a(small), c(without_boundaries("c", 1));
  const auto write_back = "demote_shard activation of a forward 0";
  pipeline_bench b(exactly_sufficient + 1_KiB);
  start(b, a, a.forward(0));
  b.stage(c, c.forward(0));
  const auto behind = b.machine.find("execute_shard c forward 0");
  CHECK(b.machine.at(behind).waits_for(b.machine.find("execute_shard a forward 0")));
  CHECK_FALSE(b.machine.at(behind).waits_for(b.machine.find(write_back)));
  CHECK(b.pipeline.budget().used() <= exactly_sufficient + 1_KiB);
  b.run_out();
  CHECK(b.port.demotions.size() == 2);
  CHECK(b.pipeline.quiet());
}

TEST_CASE("where both units have bytes of their own none waits for the other's write-back") {
  const bench_model a(without_boundaries("a", 0)), c(without_boundaries("c", 1));
  pipeline_bench b(exactly_sufficient + 4_KiB);
  start(b, a, a.forward(0));
  b.stage(c, c.forward(0));
  const auto behind = b.machine.find("execute_shard c forward 0");
  CHECK_FALSE(b.machine.at(behind).waits_for(b.machine.find("demote_shard activation of a forward 0")));
}

TEST_CASE("an input that has left the device is read from the host, but only after its producer was demoted") {
  pipeline_bench b(64_KiB, {.cache = false});
  const bench_model m({.micro_batches = 2});
  start(b, m, m.forward(0));
  b.machine.complete("execute_shard a forward 0 step 0 micro-batch 0");
  b.machine.complete(b.machine.all("demote_shard activation")[0]);
  b.stage(m, m.backward(1));
  CHECK_FALSE(holds(b.port.reads_of(m.backward(1)), block_kind::activation));
  b.machine.drain();
  b.grant(m.forward(0));
  b.machine.drain();
  REQUIRE(b.port.demotions == std::vector{m.forward(0)});
  CHECK(b.waits_for_lease(m.backward(1)));
  CHECK(holds(b.port.reads_of(m.backward(1)), block_kind::activation));
}

TEST_CASE("micro-batches stream: two inputs ahead and two outputs at most") {
  pipeline_bench b(64_KiB, {.cache = GENERATE(true, false)});
  const bench_model m({.shards = 3, .micro_batches = 4});
  const auto u = m.forward(1);
  b.stage(m, u);
  std::size_t computed = 0, written_back = 0;
  while (b.machine.pending() > 0) {
    CHECK(b.machine.all("prefetch_shard activation").size() <= computed + 2);
    CHECK(b.machine.all("execute_shard").size() <= written_back + 2);
    const auto t = b.machine.ready().back();  // computations run ahead of write-backs if possible
    computed += b.machine.at(t).queue == queue_kind::compute ? 1 : 0;
    written_back += b.machine.at(t).queue == queue_kind::d2h ? 1 : 0;
    b.machine.complete(t);
    while (b.waits_for_lease(u)) {
      b.grant(u);
    }
  }
  CHECK(written_back == 4);
  CHECK(b.port.demotions == std::vector{u});
  CHECK(b.pipeline.quiet());
}

TEST_CASE("a unit is not demoted before its predecessor, in whatever order the queues report") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.forward(0));
  for (const char* part : {"parameters of a forward 0", "minibatch of a forward 0"}) {
    b.machine.finish(b.machine.find(part));  // the device continues, the report is late
  }
  b.machine.complete("execute_shard a forward 0");
  b.stage(m, m.backward(1));
  for (auto ready = b.machine.ready(); !ready.empty(); ready = b.machine.ready()) {
    b.machine.finish(ready[0]);
  }
  while (b.machine.report(queue_kind::compute) || b.machine.report(queue_kind::d2h)) {
  }
  CHECK(b.port.demotions.empty());
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0), m.backward(1)});
}

TEST_CASE("the second input is asked for while the first computes") {
  pipeline_bench b(64_KiB);
  const bench_model m({.shards = 3, .micro_batches = 3});
  b.stage(m, m.forward(1));
  const auto reads = b.port.reads_of(m.forward(1));
  CHECK(std::ranges::count(reads, block_kind::activation, &block_id::kind) == 2);
}

TEST_CASE("a later micro-batch waits for the one before it: after a failure it must not run") {
  pipeline_bench b(64_KiB);
  const bench_model m({.micro_batches = 2});
  start(b, m, m.forward(0));
  b.grant(m.forward(0));
  const auto first = b.machine.find("execute_shard a forward 0 step 0 micro-batch 0");
  CHECK(b.machine.at(b.machine.find("execute_shard a forward 0 step 0 micro-batch 1")).waits_for(first));
}

TEST_CASE("a staged unit is not enqueued between the micro-batches of the one before it") {
  pipeline_bench b(64_KiB);
  const bench_model a({.name = "a", .id = 0, .micro_batches = 2}), c({.name = "c", .id = 1});
  start(b, a, a.forward(0));  // its second minibatch has not been granted
  b.stage(c, c.forward(0));
  CHECK_FALSE(b.machine.has("execute_shard c"));
  b.grant(a.forward(0));
  CHECK(b.machine.find("execute_shard c") > b.machine.find("execute_shard a forward 0 step 0 micro-batch 1"));
}

TEST_CASE("gradients and loss are written back after the last micro-batch") {
  pipeline_bench b(64_KiB);
  const bench_model m({.shards = 1, .micro_batches = 2});
  const auto u = m.backward(0);
  start(b, m, u);
  CHECK_FALSE(b.machine.has("demote_shard"));
  b.grant(u);
  const auto last = b.machine.find("micro-batch 1");
  CHECK(b.machine.at(b.machine.find("demote_shard gradients")).waits_for(last));
  CHECK(b.machine.at(b.machine.find("demote_shard loss")).waits_for(last));
  b.machine.drain();
  CHECK(b.port.demotions == std::vector{u});
}

TEST_CASE("parameters leave the cache with their backward visit: the optimizer makes new ones") {
  pipeline_bench b(64_KiB);
  const bench_model m({.shards = 1});
  b.place(m, m.backward(0));
  b.run_out();
  CHECK(b.pipeline.budget().used() == 0_B);
}

// -- credits ----------------------------------------------------------------------------------------------------------

TEST_CASE("a device starts by offering the credit of every slot") {
  pipeline_bench b(64_KiB, {.slots = 3});
  b.pipeline.start();
  CHECK(b.port.credits() == 3);
  CHECK_FALSE(b.port.states.back().running);
}

TEST_CASE("a unit returns its credit when it starts, once, and the device reports what runs") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  b.stage(m, m.forward(0));
  CHECK(b.port.credits() == 0);
  b.machine.complete("parameters of a forward 0");
  b.machine.complete("minibatch of a forward 0");
  CHECK(b.port.credits() == 1);
  CHECK(b.port.states.back().running == m.forward(0));
  CHECK(b.port.states.back().cached == std::vector{parameters_of(m.forward(0))});
  b.run_out();
  CHECK(b.port.credits() == 1);
  CHECK_FALSE(b.port.states.back().running);
}

TEST_CASE("a staged unit starts when the running one has computed, though that is still write-back") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  start(b, m, m.forward(0));
  b.stage(m, m.backward(1));
  b.machine.complete("parameters of a backward 1");
  b.machine.complete("targets of a backward 1");
  CHECK(b.port.credits() == 1);
  b.machine.complete("execute_shard a forward 0");
  CHECK(b.port.credits() == 2);
  CHECK(b.port.states.back().running == m.backward(1));
  CHECK(b.port.demotions.empty());
}

TEST_CASE("without double buffering the credit comes back when the computation ends") {
  pipeline_bench b(64_KiB, {.double_buffer = false});
  const bench_model m({});
  start(b, m, m.forward(0));
  CHECK(b.port.credits() == 0);
  b.machine.complete("execute_shard a forward 0");
  CHECK(b.port.credits() == 1);
  b.run_out();
  CHECK(b.port.credits() == 1);
}

TEST_CASE("with several slots a unit claims its bytes only when those before it have theirs to compute") {
  // W of both fits, but then neither could compute: W + W + C is more than P + C + W.
  const bench_model a({.name = "a", .id = 0, .shards = 3}), c({.name = "c", .id = 1, .shards = 3});
  pipeline_bench b(byte_count{1024 + 4096 + 1024 + 512}, {.slots = 2});
  b.place(a, a.forward(1));
  b.place(c, c.forward(1));
  CHECK_FALSE(b.waits_for_lease(c.forward(1)));
  b.run_out();
  CHECK(b.port.demotions == std::vector{a.forward(1), c.forward(1)});
}

TEST_CASE("a device has slots for the units whose bytes fit next to the one that computes, at most as many as asked for") {
  const pipeline_options eight{.slots = 8, .staging_bytes = 1_KiB, .computing_bytes = 5_KiB};
  CHECK(eight.slots_in(6_KiB) == 1);
  CHECK(eight.slots_in(8_KiB - 1_B) == 2);
  CHECK(eight.slots_in(8_KiB) == 3);
  CHECK(eight.slots_in(64_KiB) == 8);
  auto written_back = eight;
  written_back.write_back_bytes = 1_KiB;
  CHECK(written_back.slots_in(8_KiB) == 2);
  CHECK(pipeline_options{.slots = 8, .double_buffer = false}.slots_in(64_KiB) == 1);
}

TEST_CASE("saved tensors have what all staged units, the one that computes and the one before leave of a device") {
  pipeline_options options{.slots = 1, .staging_bytes = 1_KiB, .computing_bytes = 5_KiB, .write_back_bytes = 2_KiB};
  CHECK(options.saving_room(16_KiB) == 10_KiB);
  options.slots = 4;
  CHECK(options.saving_room(16_KiB) == 5_KiB);
  CHECK(options.saving_room(9_KiB + 512_B) == 512_B);  // two are staged
  CHECK(options.saving_room(7_KiB) == 1_KiB);          // one, next to which the unit before need not be written back
  options.save = false;
  CHECK(options.saving_room(16_KiB) == byte_count{});
}

TEST_CASE("a unit behind two that have yet to compute copies its parameters in, and gets buffers for its outputs later") {
  pipeline_bench b(64_KiB, {.slots = 3});
  const bench_model m({.shards = 4});
  start(b, m, m.forward(0));
  b.stage(m, m.forward(1));
  b.stage(m, m.forward(2));
  const auto third = [&](const recording_port::question& q) { return q.what == m.forward(2); };
  REQUIRE(std::ranges::count_if(b.port.questions, third) == 1);
  CHECK(b.port.questions.back().reads == std::vector{parameters_of(m.forward(2))});
  CHECK(b.port.questions.back().outputs.empty());
  CHECK(b.machine.has("parameters of a forward 2"));
  CHECK_FALSE(b.machine.has("execute_shard a forward 2"));
  b.machine.complete("execute_shard a forward 0");
  CHECK(b.waits_for_lease(m.forward(2)));
  CHECK(b.port.questions.back().reads.empty());
  CHECK(b.port.questions.back().outputs == produced_by(m.forward(2), step_shape{.shards = 4}));
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0), m.forward(1), m.forward(2)});
  CHECK(b.port.reads_of(m.forward(2)) == std::vector{parameters_of(m.forward(2))});  // its inputs are here
}

TEST_CASE("a unit copies its parameters in although the unit before it has computed none of its micro-batches") {
  pipeline_bench b(64_KiB, {.slots = 2});
  const bench_model m({.shards = 4, .micro_batches = 3});
  b.stage(m, m.forward(0));
  b.stage(m, m.forward(1));
  b.stage(m, m.forward(2));
  CHECK(b.machine.has("parameters of a forward 2"));
  CHECK_FALSE(b.machine.has("execute_shard a forward 1"));
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0), m.forward(1), m.forward(2)});
  CHECK(b.pipeline.quiet());
}

TEST_CASE("a withdrawn unit takes those with it that were to read what it computes") {
  pipeline_bench b(64_KiB, {.slots = 4});
  const bench_model m({.shards = 4}), other({.name = "b", .id = 1});
  start(b, m, m.forward(0));
  b.stage(m, m.forward(1));
  b.stage(m, m.forward(2));
  b.stage(other, other.forward(0));
  b.pipeline.withdraw(m.forward(1));
  b.run_out();
  CHECK(b.port.demotions == std::vector{m.forward(0), other.forward(0)});
  CHECK(b.port.failures.size() == 2);
  CHECK(b.pipeline.quiet());
}

TEST_CASE("blocks that were evicted are reported with the next state") {
  const bench_model a(without_boundaries("a", 0)), c(without_boundaries("c", 1));
  pipeline_bench b(exactly_sufficient - 1_KiB);
  b.place(a, a.forward(0));
  b.run_out();
  b.place(c, c.forward(0));
  b.run_out();
  std::vector<block_id> dropped;
  for (const auto& s : b.port.states) {
    dropped.insert(dropped.end(), s.dropped.begin(), s.dropped.end());
  }
  CHECK(std::ranges::count(dropped, parameters_of(a.forward(0))) == 1);
}

TEST_CASE("the pipeline describes what each unit holds") {
  pipeline_bench b(64_KiB);
  const bench_model m({});
  start(b, m, m.forward(0));
  CHECK(b.pipeline.visits() == 1);
  CHECK_FALSE(b.pipeline.quiet());
  CHECK(b.pipeline.describe() == "scripted:0: model 0 step 0 forward 0 is running, 2 operations and 0 leases "
                                 "outstanding, 0 of 1 micro-batches computed\n");
}

// -- ablations --------------------------------------------------------------------------------------------------------

TEST_CASE("clean parameters leave the device without a copy, unless the ablation wants one") {
  const bool wanted = GENERATE(false, true);
  pipeline_bench b(64_KiB, {.copy_back_clean = wanted});
  const bench_model m({});
  start(b, m, m.forward(0));
  CHECK(b.machine.has("copy_back parameters of a forward 0") == wanted);
  b.run_out();
  start(b, m, m.backward(1));
  CHECK_FALSE(b.machine.has("copy_back parameters of a backward 1"));
  b.run_out();
  CHECK(b.pipeline.counters().d2h_bytes.value() == (wanted ? 1024 : 0) + 512 + 1024 + 512 + 4);
  CHECK(b.pipeline.quiet());
}

TEST_CASE("parameters stay on the device until they have been copied back, however the copy ends") {
  const bool fails = GENERATE(false, true);
  pipeline_bench b(64_KiB, {.cache = false, .copy_back_clean = true});
  const bench_model m({});
  start(b, m, m.forward(0));
  b.machine.complete("execute_shard a forward 0");
  b.machine.complete("demote_shard activation of a forward 0");
  CHECK(b.port.demotions.empty());
  CHECK(b.pipeline.budget().used() >= 1024_B);
  b.machine.complete("copy_back", fails ? fault{fault_code::internal, "no"} : fault{});
  CHECK(b.port.ends_of(m.forward(0)) == 1);
  CHECK(b.pipeline.budget().used() == 0_B);
  CHECK(b.pipeline.quiet());
}

// -- updates on the device --------------------------------------------------------------------------------------------

namespace {

/// All shards are stepped on their device.
bench_model stepping(std::uint32_t shards = 1, std::uint32_t micro_batches = 1) {
  return bench_model({.shards = shards, .micro_batches = micro_batches, .steps = true});
}

unit of_next_step(unit u) {
  u.step = u.step.next();
  return u;
}

}  // namespace

TEST_CASE("a unit that steps its shard writes back the next version instead of gradients") {
  pipeline_bench b(64_KiB);
  const auto m = stepping();
  const auto u = m.backward(0);
  b.stage(m, u);
  const auto& outputs = b.port.questions[0].outputs;
  CHECK(outputs == written_back_by(u, m.what()->plan));
  CHECK_FALSE(holds(outputs, block_kind::gradients));
  CHECK(holds(outputs, block_kind::parameters));
  b.run_out();
  CHECK(b.port.demotions == std::vector{u});
  CHECK_FALSE(b.machine.has("gradients of"));
  CHECK(b.machine.all("state of").size() == 4);  // two moments, in and out
  CHECK(b.pipeline.quiet());
}

TEST_CASE(
    "the step waits for all micro-batches and for all of the state, the micro-batches do not wait for the state") {
  pipeline_bench b(64_KiB);
  const auto m = stepping(1, 2);
  const auto u = m.backward(0);
  b.stage(m, u);
  for (int i = 0; i < 6; ++i) {
    if (b.waits_for_lease(u)) b.grant(u);
    for (const auto t : b.machine.ready()) {
      const auto& op = b.machine.at(t);
      if (op.text.find("state of") == std::string::npos) b.machine.complete(t);
    }
  }
  CHECK_FALSE(b.machine.is_pending(b.machine.find("micro-batch 1")));  // it has computed
  REQUIRE(b.machine.has("step of"));
  const auto step = b.machine.at(b.machine.find("step of"));
  CHECK(step.waits_for(b.machine.find("micro-batch 1")));
  for (const auto t : b.machine.all("state of")) {
    const bool in = b.machine.at(t).queue == queue_kind::h2d;
    CHECK(step.waits_for(t) == in);
    CHECK(b.machine.is_pending(t));
  }
  b.run_out();
  CHECK(b.port.demotions == std::vector{u});
}

TEST_CASE("the first unit of the next step follows on the device before the version it reads is written back") {
  pipeline_bench b(64_KiB);
  const auto m = stepping();
  const auto u = m.backward(0), next = of_next_step(u);
  b.stage(m, u);
  b.place(m, next);
  CHECK_FALSE(b.waits_for_lease(next));  // its inputs do not exist yet
  b.grant(u), b.grant(u);                // the state
  REQUIRE(b.waits_for_lease(next));
  CHECK_FALSE(holds(b.port.reads_of(next), block_kind::parameters));
  b.grant(next);
  while (!b.machine.has("step 1 micro-batch 0")) {
    REQUIRE_FALSE(b.machine.ready().empty());
    b.machine.complete(b.machine.ready().front());
    if (b.waits_for_lease(next)) b.grant(next);
  }
  CHECK(b.machine.at(b.machine.find("step 1 micro-batch 0")).waits_for(b.machine.find("step of a backward 0 step 0")));
  b.run_out();
  CHECK(b.port.demotions == std::vector{u, next});
  CHECK(b.pipeline.quiet());
}

TEST_CASE("where a step fails, nothing of the next version stays on the device, and the unit behind it fails") {
  pipeline_bench b(64_KiB);
  const auto m = stepping();
  const auto u = m.backward(0), next = of_next_step(u);
  b.stage(m, u);
  b.place(m, next);
  b.grant(u), b.grant(u);
  while (b.machine.is_pending(b.machine.find("step of"))) {
    const auto ready = b.machine.ready();
    REQUIRE_FALSE(ready.empty());
    const bool step = b.machine.at(ready.front()).text.find("step of") != std::string::npos;
    b.machine.complete(ready.front(), step ? fault{fault_code::internal, "by the test"} : fault{});
  }
  b.run_out();
  CHECK(b.port.failure_of(u) != nullptr);
  CHECK(b.port.failure_of(next) != nullptr);
  CHECK(b.pipeline.quiet());
  CHECK(b.pipeline.budget().used() <= byte_count{2048});  // parameters of version 0 at most
}
