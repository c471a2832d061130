#include "partition/plan/cursor.hpp"

#include "tests/support/plain_cursor.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

cursor timed(std::uint32_t shards, std::uint32_t steps, const evaluation_schedule& evaluation = {}) {
  auto c = plain_cursor(model_id{1}, {.shards = shards, .micro_batches = 2}, steps, evaluation);
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
    sum += c.time_of(c.unit_at(p, 0));
  }
  return sum;
}

}  // namespace

TEST_CASE("a step goes forward to the last shard but one and backward from the last") {
  const auto c = plain_cursor(model_id{1}, {.shards = 3, .micro_batches = 4}, 2);
  std::string order;
  for (auto p = c.begin_of(0, 0); !c.at_end(p); p = c.next(p)) {
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
  for (auto p = c.begin_of(0, 0); !c.at_end(p); p = c.next(p)) {
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
  CHECK(c.remaining(c.begin_of(4, 0)) == duration{});
}

TEST_CASE("measured times replace the plan's first and are averaged in later") {
  auto c = timed(3, 2);
  const auto u = c.unit_at({.step = 0, .index = 2}, 0);
  const auto later = c.unit_at({.step = 1, .index = 2}, 0);
  c.measured(u, 1000ns);
  CHECK(c.time_of(later) == 1000ns);
  c.measured(u, 2000ns);
  CHECK(c.time_of(later) == 1250ns);
}

TEST_CASE("the remaining time stays right whatever is measured in whatever order") {
  auto c = timed(4, 5);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const unit_position p{.step = static_cast<std::uint32_t>(random() % 5),
                          .index = static_cast<std::uint32_t>(random() % 7)};
    c.measured(c.unit_at(p, 0), duration(random() % 10000));
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
}

TEST_CASE("a truncated model ends after its completed steps") {
  auto c = timed(2, 5);
  c.truncate(2);
  CHECK(c.steps() == 2);
  CHECK(c.at_end(c.begin_of(2, 0)));
  CHECK(c.remaining({}) == remaining_naively(c, {}));
}

TEST_CASE("an evaluation is between two steps, range by range through all shards; the last one ends the model") {
  const auto c = plain_cursor(model_id{1}, {.shards = 2, .micro_batches = 4}, 3,
                              {.every = 2, .range = {.micro_batches = 5, .round = 3}});
  std::string order;
  for (auto p = c.begin_of(0, 0); !c.at_end(p); p = c.next(p)) {
    const auto u = c.unit_at(p, 0);
    CHECK(c.position_of(u) == p);
    order += std::to_string(u.step.value) + to_string(u.way).substr(0, 1) + std::to_string(u.shard.value) +
             (u.way == direction::evaluate ? "." + std::to_string(u.micro_batches) : "") + " ";
  }
  CHECK(order == "0f0 0b1 0b0 1f0 1b1 1b0 2e0.3 2e1.3 2e0.2 2e1.2 2f0 2b1 2b0 3e0.3 3e1.3 3e0.2 3e1.2 ");
}

TEST_CASE("a model that stops early is evaluated where it stops") {
  auto c = plain_cursor(model_id{1}, {.shards = 1, .micro_batches = 1}, 5, {.range = {.micro_batches = 1}});
  CHECK_FALSE(c.evaluates_after(2));
  c.truncate(2);
  CHECK(c.evaluates_after(2));
  CHECK(c.unit_at(c.begin_of(2, 0), 0).way == direction::evaluate);
  CHECK(c.at_end(c.next(c.begin_of(2, 0))));
}

TEST_CASE("the remaining time counts the evaluations to come") {
  const auto every = GENERATE(0u, 1u, 2u, 5u, 9u);
  auto c = timed(3, 5, {.every = every, .range = {.micro_batches = 7, .round = 3}});
  for (std::uint32_t s = 0; s < 3; ++s) {
    c.set_time(direction::evaluate, s, duration(11 + s));
  }
  for (auto p = c.begin_of(0, 0); !c.at_end(p); p = c.next(p)) {
    CHECK(c.remaining(p) == remaining_naively(c, p));
  }
}

TEST_CASE("a position is found again by its step, its training unit and whether the step was evaluated") {
  const auto c = plain_cursor(model_id{1}, {.shards = 3, .micro_batches = 2}, 4,
                              {.every = 2, .range = {.micro_batches = 5, .round = 2}});
  for (auto p = c.begin_of(0, 0); !c.at_end(p); p = c.next(p)) {
    INFO("step " << p.step << " index " << p.index);
    const bool evaluates = p.turn == turn_kind::evaluation;
    const auto found = c.position_in(p.step, p.trained(), !evaluates, 0);
    CHECK(found == (evaluates ? c.begin_of(p.step, 0) : p));  // an evaluation is started again
  }
  CHECK(c.at_end(c.position_in(4, 0, true, 0)));
  CHECK(c.position_in(4, 0, false, 0).turn == turn_kind::evaluation);
}

TEST_CASE("all lanes of a model are walked by its graphs, and the rounds of an evaluation are dealt to them") {
  const step_shape shape{.shards = 2, .micro_batches = 8, .replicas = 2, .waves = 2, .first_trained = 1};
  const evaluation_schedule schedule{.every = 1, .range = {.micro_batches = 11, .round = 2}};  // 6 rounds, 4 lanes
  const auto c = plain_cursor(model_id{1}, shape, 3, schedule);
  std::set<std::uint32_t> evaluated;
  std::uint64_t units = 0;
  for (std::uint32_t lane = 0; lane < c.lanes(); ++lane) {
    for (auto p = c.begin_of(0, lane); !c.at_end(p); p = c.next(p), ++units) {
      const auto u = c.unit_at(p, 0);
      CHECK(c.position_of(u) == p);
      CHECK(u.replica.value * shape.waves + u.wave.value == lane);
      for (std::uint32_t k = 0; p.turn == turn_kind::evaluation && k < u.micro_batches; ++k) {
        evaluated.insert(u.first_micro_batch.value + k);
      }
    }
  }
  CHECK(evaluated.size() == 11);
  CHECK(units == c.units());
}

TEST_CASE("a unit joins another lane where it adds to the sum of the wave before") {
  const auto c = plain_cursor(model_id{1}, {.shards = 2, .micro_batches = 2, .waves = 2}, 3);
  CHECK(c.joined({.step = 2, .index = 0, .lane = 1}).empty());
  CHECK(c.joined({.step = 2, .index = 1, .lane = 1}) == std::vector{unit_position{.step = 2, .index = 1}});
  CHECK(c.joined({.step = 2, .index = 1, .lane = 0}).empty());
}
