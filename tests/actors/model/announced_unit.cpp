#include "actors/model/announced_unit.hpp"

#include "tests/support/plain_cursor.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

/// Of two shards, each unit of which takes so long.
cursor two_shards(std::uint32_t steps, duration each) {
  auto units = plain_cursor(model_id{4}, {.shards = 2, .micro_batches = 1}, steps);
  for (std::uint32_t s = 0; s < 2; ++s) {
    units.set_time(direction::forward, s, each);
    units.set_time(direction::backward, s, each);
  }
  return units;
}

/// The last unit of a step.
unit_ready last_of_step(const cursor& units, std::uint32_t step) {
  const unit_position last{.step = step, .index = units.graph().size() - 1};
  return announced_unit({.what = units.unit_at(last, 0), .after = {}}, units, 2, {});
}

}  // namespace

TEST_CASE("a unit is announced with its time and that of the next one, and with the wall time of what remains") {
  const auto u = last_of_step(two_shards(3, 10us), 0);
  CHECK((u.cost == 10us && u.then_cost == 10us));
  CHECK((u.remaining == 140us && u.then_remaining == 120us));
}

TEST_CASE("after the last unit of a model nothing remains") {
  const auto u = last_of_step(two_shards(3, 10us), 2);
  CHECK((u.remaining == 20us && u.then_remaining == 0us && u.then_cost == 0us));
}
