#include "actors/device/saved_tensors.hpp"

#include "tests/support/pipeline_bench.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;

namespace {

/// P 1024, C 4096, activations of 512, W at most 2048.
constexpr byte_count staging = 2_KiB, computing = 5_KiB;

even_model saving(const char* name, std::uint32_t id, std::uint32_t micro_batches = 1) {
  return {.name = name, .id = id, .shards = 4, .micro_batches = micro_batches, .saved = 1_KiB};
}

pipeline_bench bench_with(byte_count for_saved, pipeline_options options = {}) {
  options.staging_bytes = staging;
  options.computing_bytes = computing;
  return pipeline_bench(staging + computing + for_saved, options);
}

void run(pipeline_bench& b, const bench_model& m, const unit& u) {
  b.place(m, u);
  b.run_out();
}

/// A step of four shards.
void run_step(pipeline_bench& b, const bench_model& m) {
  for (const std::uint32_t s : {0, 1, 2}) {
    run(b, m, m.forward(s));
  }
  for (const std::uint32_t s : {3, 2, 1, 0}) {
    run(b, m, m.backward(s));
  }
}

duration estimate_of(const pipeline_bench& b, const char* computation) {
  return b.machine.at(b.machine.find(computation)).estimate;
}

}  // namespace

TEST_CASE("where there is room a backward visit has what its forward visit saved, and takes so much less time") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0));
  run_step(b, m);
  CHECK(b.pipeline.counters().saved == 3);
  CHECK(b.pipeline.counters().recomputed == 0);
  CHECK(estimate_of(b, "execute_shard a backward 2") == std::chrono::microseconds(10));
  CHECK(estimate_of(b, "execute_shard a backward 3") == std::chrono::microseconds(20));  // the last: nothing is saved
  CHECK(b.pipeline.quiet());
}

TEST_CASE("with less room the first shards are computed again: what was saved first is dropped first") {
  auto b = bench_with(2_KiB);
  const bench_model m(saving("a", 0));
  run_step(b, m);
  CHECK(b.pipeline.counters().saved == 2);
  CHECK(b.pipeline.counters().recomputed == 1);
  CHECK(estimate_of(b, "execute_shard a backward 0") == std::chrono::microseconds(20));
}

TEST_CASE("room that the largest units need is not for saved tensors") {
  auto b = bench_with(1_KiB - 1_B);
  const bench_model m(saving("a", 0));
  run_step(b, m);
  CHECK(b.pipeline.counters().saved == 0);
  CHECK(b.pipeline.counters().recomputed == 3);
}

TEST_CASE("single micro-batches of a visit are saved") {
  auto b = bench_with(1_KiB);
  const bench_model m(saving("a", 0, 2));
  run(b, m, m.forward(2));
  run(b, m, m.backward(3));
  run(b, m, m.backward(2));
  CHECK(b.pipeline.counters().saved == 1);
  CHECK(b.pipeline.counters().recomputed == 1);
}

TEST_CASE("nothing is saved if that, or the cache, is switched off, or if the plan's bytes are not known") {
  const bool save = GENERATE(true, false);
  pipeline_bench b(64_KiB, {.cache = !save, .save = save, .staging_bytes = staging, .computing_bytes = computing});
  const bench_model m(saving("a", 0));
  run_step(b, m);
  CHECK(b.pipeline.counters().saved == 0);
  pipeline_bench unknown(64_KiB);
  run_step(unknown, m);
  CHECK(unknown.pipeline.counters().saved == 0);
}

TEST_CASE("what a failed forward visit saved is dropped, and saved again by the next attempt") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0));
  b.stage(m, m.forward(0));
  b.machine.complete("parameters of a forward 0");
  b.machine.complete("minibatch of a forward 0");
  b.machine.complete("execute_shard a forward 0", {fault_code::io, "broken"});
  b.run_out();
  REQUIRE(b.port.failures.size() == 1);
  CHECK(b.pipeline.quiet());
  run(b, m, m.forward(0, 1));
  run(b, m, m.backward(0, 1));
  CHECK(b.pipeline.counters().saved == 1);
}

TEST_CASE("a failed backward visit uses up what was saved: the next attempt computes the forward again") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0));
  run(b, m, m.forward(2));
  run(b, m, m.backward(3));
  b.stage(m, m.backward(2));
  for (auto ready = b.machine.ready(); b.machine.at(ready.front()).queue == queue_kind::h2d;
       ready = b.machine.ready()) {
    b.machine.complete(ready.front());
  }
  b.machine.complete("execute_shard a backward 2", {fault_code::io, "broken"});
  b.run_out();
  REQUIRE(b.port.failures.size() == 1);
  run(b, m, m.backward(2, 1));
  CHECK(b.pipeline.counters().saved == 0);
  CHECK(b.pipeline.counters().recomputed == 1);
}

TEST_CASE("what is saved does not give way to cached blocks or to units that can wait") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0)), other({.name = "other", .id = 1, .shards = 4});
  for (const std::uint32_t s : {0, 1, 2}) {
    run(b, m, m.forward(s));
  }
  for (const std::uint32_t s : {0, 1, 2}) {
    b.place(other, other.forward(s));
  }
  b.run_out();
  for (const std::uint32_t s : {3, 2, 1, 0}) {
    run(b, m, m.backward(s));
  }
  CHECK(b.pipeline.counters().saved == 3);
}

TEST_CASE("what is saved gives way to a unit that is larger than those of the plan") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0)), larger({.name = "joined", .id = 1, .working = 7_KiB, .write_back = 7_KiB});
  run(b, m, m.forward(0));
  run(b, m, m.forward(1));
  run(b, larger, larger.forward(0));
  CHECK(b.port.demotions.size() == 3);
}

TEST_CASE("what a model has saved leaves with it") {
  auto b = bench_with(3_KiB);
  const bench_model m(saving("a", 0));
  run(b, m, m.forward(0));
  const auto before = b.pipeline.budget().used();
  b.pipeline.forget(model_id{0});
  CHECK(b.pipeline.budget().used() == before - 1_KiB);
}
