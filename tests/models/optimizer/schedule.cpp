#include "models/optimizer/schedule.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("the warm-up rises linearly to the full rate") {
  const learning_schedule s{.kind = schedule_kind::constant, .warmup = 4};
  CHECK(schedule_factor(s, 0, 10) == 0.25);
  CHECK(schedule_factor(s, 3, 10) == 1);
  CHECK(schedule_factor(s, 9, 10) == 1);
}

TEST_CASE("a linear schedule falls from the rate to the floor at the last step") {
  const learning_schedule s{.kind = schedule_kind::linear, .warmup = 2, .floor = 0.1};
  CHECK(schedule_factor(s, 2, 13) == 1);
  CHECK(schedule_factor(s, 7, 13) == Approx(0.55));
  CHECK(schedule_factor(s, 12, 13) == Approx(0.1));
}

TEST_CASE("a cosine schedule falls along half a cosine") {
  const learning_schedule s{.kind = schedule_kind::cosine, .floor = 0.2};
  CHECK(schedule_factor(s, 0, 9) == 1);
  CHECK(schedule_factor(s, 2, 9) == Approx(0.2 + 0.8 * (1 + 0.70710678) / 2));
  CHECK(schedule_factor(s, 4, 9) == Approx(0.6));
  CHECK(schedule_factor(s, 8, 9) == Approx(0.2));
}

TEST_CASE("a schedule that is all warm-up never divides by zero") {
  const learning_schedule s{.kind = schedule_kind::cosine, .warmup = 3, .floor = 0.5};
  CHECK(schedule_factor(s, 2, 3) == 1);
  CHECK(schedule_factor(s, 3, 3) == 0.5);
  CHECK(schedule_factor({}, 0, 0) == 1);
}
