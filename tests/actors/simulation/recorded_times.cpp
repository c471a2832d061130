// Times of a run, by the labels of its trace.

#include "actors/simulation/recorded_times.hpp"

#include "tests/support/heap_bytes.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

span lasting(std::string name, std::string detail, duration d) {
  return {std::move(name), "", time_point{}, time_point{} + d, std::move(detail)};
}

operation asked(std::string detail) {
  return {.work = {}, .bytes = {}, .estimate = 1s, .label = {"", std::move(detail)}};
}

}  // namespace

TEST_CASE("a label names model, way, shard, step and micro-batch, whatever the model is called") {
  const auto l = parse_label("parameters of big gpt-1e-3 forward 2 step 17");
  REQUIRE(l);
  CHECK((l->subject == "parameters" && l->model == "big gpt-1e-3" && l->way == "forward"));
  CHECK((l->shard == 2 && l->step == 17 && l->micro_batch == 0));
  const auto e = parse_label("m forward 1 evaluate 3 step 4 micro-batch 5");
  REQUIRE(e);
  CHECK((e->subject.empty() && e->model == "m forward 1" && e->way == "evaluate"));
  CHECK((e->shard == 3 && e->step == 4 && e->micro_batch == 5));
  const auto u = parse_label("update of m backward 4 step 2");
  REQUIRE(u);
  CHECK((u->model == "m backward" && u->way.empty() && u->shard == 4));
  for (const char* text : {"", "step", "step 3", "gpt forward 2", "gpt forward x step 3", "gpt forward 2 step"}) {
    CHECK_FALSE(parse_label(text));
  }
}

TEST_CASE("a computation takes its recorded time once, longer on a slower device; another of its class the mean") {
  recorded_times times;
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0 step 0 micro-batch 0", 2ms));
  times.add(queue_kind::compute, "b", 0.5, lasting("execute_shard", "m forward 0 step 1 micro-batch 0", 8ms));
  CHECK(times.take(queue_kind::compute, "b", 0.5, asked("m forward 0 step 0 micro-batch 0")) == 4ms);
  CHECK(times.take(queue_kind::compute, "a", 1, asked("m forward 0 step 0 micro-batch 0")) == 3ms);
  CHECK(times.take(queue_kind::compute, "a", 1, asked("m forward 0 step 1 micro-batch 0")) == 4ms);
  CHECK_FALSE(times.take(queue_kind::compute, "a", 1, asked("m backward 0 step 1 micro-batch 0")));
  CHECK_FALSE(times.take(queue_kind::compute, "a", 1, asked("no label")));
}

TEST_CASE(
    "a copy takes what it took on that device, else its class's mean there, anywhere, or of the other direction") {
  recorded_times times;
  times.add(queue_kind::h2d, "a", 1, lasting("prefetch_shard", "parameters of m forward 0 step 0", 2ms));
  times.add(queue_kind::h2d, "a", 1, lasting("prefetch_shard", "parameters of m forward 0 step 1", 4ms));
  times.add(queue_kind::h2d, "b", 1, lasting("prefetch_shard", "parameters of m forward 0 step 2", 6ms));
  CHECK(times.take(queue_kind::h2d, "a", 1, asked("parameters of m forward 0 step 1")) == 4ms);
  CHECK(times.take(queue_kind::h2d, "a", 1, asked("parameters of m forward 0 step 2")) == 3ms);
  CHECK(times.take(queue_kind::h2d, "c", 1, asked("parameters of m forward 0 step 2")) == 4ms);
  CHECK(times.take(queue_kind::h2d, "c", 1, asked("parameters of m backward 0 step 2")) == 4ms);
  CHECK_FALSE(times.take(queue_kind::h2d, "c", 1, asked("parameters of m backward 1 step 2")));
}

TEST_CASE("copies of one label, one for each micro-batch, are given out in their order") {
  recorded_times times;
  for (const auto d : {1ms, 5ms}) {
    times.add(queue_kind::d2h, "a", 1, lasting("demote_shard", "activation of m forward 0 step 0", d));
  }
  CHECK(times.take(queue_kind::d2h, "a", 1, asked("activation of m forward 0 step 0")) == 1ms);
  CHECK(times.take(queue_kind::d2h, "a", 1, asked("activation of m forward 0 step 0")) == 5ms);
  CHECK(times.take(queue_kind::d2h, "a", 1, asked("activation of m forward 0 step 0")) == 3ms);
}

TEST_CASE("recorded times can be used again for another simulation, in whatever order steps were recorded") {
  recorded_times times;
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0 step 1 micro-batch 0", 2ms));
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0 step 0 micro-batch 0", 6ms));
  for (int simulation = 0; simulation < 2; ++simulation) {
    CHECK(times.take(queue_kind::compute, "a", 1, asked("m forward 0 step 0 micro-batch 0")) == 6ms);
    CHECK(times.take(queue_kind::compute, "a", 1, asked("m forward 0 step 1 micro-batch 0")) == 2ms);
    CHECK(times.take(queue_kind::compute, "a", 1, asked("m forward 0 step 1 micro-batch 0")) == 4ms);
    times.rewind();
  }
}

TEST_CASE("a million recorded operations take some tens of megabytes") {
  const auto before = hydra::test::heap_bytes();
  recorded_times times;
  constexpr std::uint32_t steps = 500000;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const auto of_step = " step " + std::to_string(step);
    times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0" + of_step + " micro-batch 0", 2ms));
    times.add(queue_kind::h2d, "a", 1, lasting("prefetch_shard", "parameters of m forward 0" + of_step, 2ms));
  }
  CHECK(times.take(queue_kind::h2d, "a", 1, asked("parameters of m forward 0 step 400000")) == 2ms);
  CHECK(hydra::test::heap_bytes() - before < 100'000'000);
}

TEST_CASE(
    "the spread of computations is the mean deviation from the means of their classes; copies have no part in it") {
  recorded_times times;
  CHECK(times.spread() == 0);
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0 step 0 micro-batch 0", 2ms));
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 0 step 1 micro-batch 0", 6ms));
  times.add(queue_kind::compute, "a", 1, lasting("execute_shard", "m forward 1 step 0 micro-batch 0", 8ms));
  times.add(queue_kind::h2d, "a", 1, lasting("prefetch_shard", "parameters of m forward 0 step 0", 1ms));
  times.add(queue_kind::h2d, "a", 1, lasting("prefetch_shard", "parameters of m forward 0 step 1", 9ms));
  CHECK(times.spread() == Approx(4.0 / 16));
}

TEST_CASE("a track belongs to a queue of a device only if it is named like that") {
  CHECK(queue_of_track("cpu:1 compute", "cpu:1") == queue_kind::compute);
  CHECK(queue_of_track("cpu:1 d2h", "cpu:1") == queue_kind::d2h);
  CHECK_FALSE(queue_of_track("cpu:11 compute", "cpu:1"));
  CHECK_FALSE(queue_of_track("host optimizer", "cpu:1"));
}

TEST_CASE("a visit's mean is of all its micro-batches together, an update's of all steps") {
  recorded_times times;
  for (const auto* detail : {"m backward 1 step 0 micro-batch 0", "m backward 1 step 0 micro-batch 1",
                             "m backward 1 step 1 micro-batch 0", "m backward 1 step 1 micro-batch 1"}) {
    times.add(queue_kind::compute, "a", 0.5, lasting("execute_shard", detail, 4ms));
  }
  CHECK(times.mean_visit("m", "backward", 1) == 4ms);
  CHECK_FALSE(times.mean_visit("m", "forward", 1));
  times.add_update(lasting("step_shard", "update of m 0 step 0", 1ms));
  times.add_update(lasting("step_shard", "update of m 0 step 1", 2ms));
  times.add_update(lasting("step_shard", "norms of m 0 step 1", 9ms));
  CHECK(times.mean_update("m", 0) == 1500us);
  CHECK_FALSE(times.mean_update("m", 1));
}
