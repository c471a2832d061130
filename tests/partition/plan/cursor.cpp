#include "partition/plan/cursor.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

cursor timed(std::uint32_t shards, std::uint32_t steps) {
  cursor c(model_id{1}, {.shards = shards, .micro_batches = 2}, steps);
  for (std::uint32_t s = 0; s < shards; ++s) {
    if (s + 1 < shards) {
      c.set_time(direction::forward, s, duration(100 + s));
    }
    c.set_time(direction::backward, s, duration(300 + 7 * s));
  }
  return c;
}

/// The paper's Algorithm 2, unit by unit.
duration remaining_naively(const cursor& c, unit_position p) {
  duration sum{};
  for (; !c.at_end(p); p = c.next(p)) {
    sum += c.time_of(p);
  }
  return sum;
}

}  // namespace

TEST_CASE("a step goes forward to the last shard but one and backward from the last") {
  const cursor c(model_id{1}, {.shards = 3, .micro_batches = 4}, 2);
  std::string order;
  for (unit_position p; !c.at_end(p); p = c.next(p)) {
    const auto u = c.unit_at(p, 0);
    CHECK(u.micro_batches == 4);
    CHECK(c.position_of(u) == p);
    order += to_string(u).substr(8) + "; ";
  }
  CHECK(order == "step 0 forward 0; step 0 forward 1; step 0 backward 2; step 0 backward 1; step 0 backward 0; "
                 "step 1 forward 0; step 1 forward 1; step 1 backward 2; step 1 backward 1; step 1 backward 0; ");
}

TEST_CASE("the remaining time is the sum of all unit times to the end, as in the paper's Algorithm 2") {
  const auto shards = GENERATE(1u, 2u, 5u);
  const auto c = timed(shards, 4);
  for (unit_position p; !c.at_end(p); p = c.next(p)) {
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
  CHECK(c.remaining({4, 0}) == duration{});
}

TEST_CASE("measured times replace the plan's first and are averaged in later") {
  auto c = timed(3, 2);
  const auto u = c.unit_at({0, 2}, 0);
  c.measured(u, 1000ns);
  CHECK(c.time_of({1, 2}) == 1000ns);
  c.measured(u, 2000ns);
  CHECK(c.time_of({1, 2}) == 1250ns);
}

TEST_CASE("the remaining time stays right whatever is measured in whatever order") {
  auto c = timed(4, 5);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const unit_position p{static_cast<std::uint32_t>(random() % 5), static_cast<std::uint32_t>(random() % 7)};
    c.measured(c.unit_at(p, 0), duration(random() % 10000));
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
}

TEST_CASE("a truncated model ends after its completed steps") {
  auto c = timed(2, 5);
  c.truncate(2);
  CHECK(c.steps() == 2);
  CHECK(c.at_end({2, 0}));
  CHECK(c.remaining({0, 0}) == remaining_naively(c, {0, 0}));
}

TEST_CASE("an evaluation is between two steps, range by range through all shards; the last one ends the model") {
  cursor c(model_id{1}, {.shards = 2, .micro_batches = 4}, 3);
  c.evaluate({.every = 2, .range = {.micro_batches = 5, .round = 3}});
  std::string order;
  for (unit_position p; !c.at_end(p); p = c.next(p)) {
    const auto u = c.unit_at(p, 0);
    CHECK(c.position_of(u) == p);
    order += std::to_string(u.step.value) + to_string(u.way).substr(0, 1) + std::to_string(u.shard.value) +
             (u.way == direction::evaluate ? "." + std::to_string(u.micro_batches) : "") + " ";
  }
  CHECK(order == "0f0 0b1 0b0 1f0 1b1 1b0 2e0.3 2e1.3 2e0.2 2e1.2 2f0 2b1 2b0 3e0.3 3e1.3 3e0.2 3e1.2 ");
}

TEST_CASE("a model that stops early is evaluated where it stops") {
  cursor c(model_id{1}, {.shards = 1, .micro_batches = 1}, 5);
  c.evaluate({.every = 0, .range = {.micro_batches = 1}});
  CHECK_FALSE(c.evaluates_after(2));
  c.truncate(2);
  CHECK(c.evaluates_after(2));
  CHECK(c.unit_at({2, 0}, 0).way == direction::evaluate);
  CHECK(c.at_end({3, 0}));
}

TEST_CASE("the remaining time counts the evaluations to come") {
  auto c = timed(3, 5);
  for (std::uint32_t s = 0; s < 3; ++s) {
    c.set_time(direction::evaluate, s, duration(11 + s));
  }
  const auto every = GENERATE(0u, 1u, 2u, 5u, 9u);
  c.evaluate({.every = every, .range = {.micro_batches = 7, .round = 3}});
  for (unit_position p; !c.at_end(p); p = c.next(p)) {
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
}

TEST_CASE("a position is found again by its step, its training unit and whether the step was evaluated") {
  cursor c(model_id{1}, {.shards = 3, .micro_batches = 2}, 4);
  c.evaluate({.every = 2, .range = {.micro_batches = 5, .round = 2}});
  for (unit_position p; !c.at_end(p); p = c.next(p)) {
    INFO("step " << p.step << " index " << p.index);
    const bool evaluates = c.evaluation_unit(p).has_value();
    const auto found = c.position_in(p.step, c.training_unit(p), !evaluates);
    CHECK(found == (evaluates ? unit_position{p.step, 0} : p));  // an evaluation is started again
  }
  CHECK(c.at_end(c.position_in(4, 0, true)));
  CHECK(c.evaluation_unit(c.position_in(4, 0, false)).has_value());
}
