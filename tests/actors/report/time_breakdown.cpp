#include "actors/report/time_breakdown.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

constexpr device_id d0{0}, d1{1};
const time_point zero{1h};

unit forward(std::uint32_t model, std::uint32_t step, std::uint32_t shard = 0, std::uint32_t wave = 0) {
  unit u;
  u.wave = wave_index{wave};
  u.model = model_id{model};
  u.step = step_index{step};
  u.shard = shard_index{shard};
  return u;
}

/// Available and placed when the device becomes idle, and started at once.
visit_times prompt(duration begin, duration end, std::optional<duration> idle_since = {}) {
  visit_times t;
  t.compute = end - begin;
  t.available = t.placed = t.begin = zero + begin;
  t.end = zero + end;
  if (idle_since) {
    t.idle_since = zero + *idle_since;
  }
  return t;
}

duration total(const time_breakdown& b) {
  duration sum{};
  for (const auto& part : breakdown_parts) {
    sum += b.*part.value;
  }
  return sum;
}

}  // namespace

TEST_CASE("a device that computed nothing had no unit", "[time-breakdown]") {
  const breakdown_tracker tracker(2);
  const auto b = tracker.of(d1, zero, zero + 10ms);
  CHECK(b.no_unit == 10ms);
  CHECK(total(b) == 10ms);
}

TEST_CASE("a later step's first unit waited for its predecessor, then for the optimizer", "[time-breakdown]") {
  breakdown_tracker tracker(2);
  tracker.add(forward(0, 0), d1, prompt(0ms, 6ms));
  tracker.add(forward(1, 0), d0, prompt(0ms, 4ms));
  tracker.add(forward(0, 1), d0, prompt(9ms, 10ms, 4ms));
  const auto b = tracker.of(d0, zero, zero + 10ms);
  CHECK(b.compute == 5ms);
  CHECK(b.predecessor == 2ms);
  CHECK(b.optimizer == 3ms);
  CHECK(b.actors == 0ms);
  CHECK(total(b) == 10ms);
}

TEST_CASE("a unit within its step waited for the predecessor until it was written back", "[time-breakdown]") {
  breakdown_tracker tracker(2);
  tracker.add(forward(0, 0, 0), d1, prompt(0ms, 6ms));
  tracker.add(forward(1, 0), d0, prompt(0ms, 4ms));
  tracker.add(forward(0, 0, 1), d0, prompt(9ms, 10ms, 4ms));
  CHECK(tracker.of(d0, zero, zero + 10ms).predecessor == 5ms);
}

TEST_CASE("time between availability and placement is the actors', copies after it are exposed", "[time-breakdown]") {
  breakdown_tracker tracker(1);
  tracker.add(forward(0, 0), d0, prompt(0ms, 4ms));
  auto t = prompt(12ms, 15ms, 4ms);
  t.available = zero + 3ms;
  t.placed = zero + 6ms;
  t.exposed_h2d = 3ms;
  t.exposed_d2h = 2ms;
  tracker.add(forward(1, 0), d0, t);
  const auto b = tracker.of(d0, zero, zero + 15ms);
  CHECK(b.exposed_h2d == 3ms);
  CHECK(b.exposed_d2h == 2ms);
  CHECK(b.actors == 3ms);  // 2 ms until it was placed, 1 ms that no copy explains
  CHECK(total(b) == 15ms);
}

TEST_CASE("after its last unit a device has none, while others compute; then all wait for the optimizer",
          "[time-breakdown]") {
  breakdown_tracker tracker(2);
  tracker.add(forward(0, 0), d0, prompt(1ms, 4ms));
  tracker.add(forward(1, 0), d1, prompt(0ms, 9ms));
  const auto b = tracker.of(d0, zero, zero + 12ms);
  CHECK(b.no_unit == 1ms + 5ms);
  CHECK(b.optimizer == 3ms);
  CHECK(total(b) == 12ms);
}

TEST_CASE("a failed model's unit that computes after the end of the run counts up to it", "[time-breakdown]") {
  breakdown_tracker tracker(1);
  tracker.add(forward(0, 0), d0, prompt(0ms, 8ms));
  const auto b = tracker.of(d0, zero, zero + 6ms);
  CHECK(b.compute == 6ms);
  CHECK(total(b) == 6ms);
}

TEST_CASE("a unit of a model in waves waited in the bubble of its pipeline", "[time-breakdown]") {
  breakdown_tracker tracker(2);
  tracker.add(forward(0, 0, 0, 0), d0, prompt(0ms, 4ms), 2);
  tracker.add(forward(0, 0, 0, 1), d0, prompt(4ms, 8ms, 4ms), 2);
  tracker.add(forward(1, 0), d1, prompt(0ms, 1ms));
  tracker.add(forward(0, 0, 1, 0), d1, prompt(4ms, 7ms, 1ms), 2);
  tracker.add(forward(0, 0, 1, 1), d1, prompt(8ms, 11ms, 7ms), 2);
  const auto b = tracker.of(d1, zero, zero + 11ms);
  CHECK(b.bubble == 4ms);
  CHECK(b.predecessor == 0ms);
  CHECK(total(b) == 11ms);
  CHECK(tracker.of(model_id{0}).bubble == 4ms);
  CHECK(tracker.of(model_id{0}).compute == 14ms);
  CHECK(tracker.of(model_id{1}).bubble == 0ms);
}

TEST_CASE("the first unit of a step waited for the last unit of any lane, then for the optimizer", "[time-breakdown]") {
  breakdown_tracker tracker(2);
  tracker.add(forward(0, 0, 0, 0), d0, prompt(0ms, 4ms), 2);
  tracker.add(forward(0, 0, 0, 1), d1, prompt(0ms, 6ms), 2);
  tracker.add(forward(0, 1, 0, 0), d0, prompt(9ms, 10ms, 4ms), 2);
  const auto b = tracker.of(d0, zero, zero + 10ms);
  CHECK(b.bubble == 2ms);
  CHECK(b.optimizer == 3ms);
}
