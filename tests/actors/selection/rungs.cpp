#include "actors/selection/rungs.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;

using steps = std::vector<std::uint32_t>;

TEST_CASE("rungs are a factor apart, and the last one is the trial's length", "[selection]") {
  CHECK(rung_steps(10, 3, 270) == steps{10, 30, 90, 270});
  CHECK(rung_steps(10, 3, 100) == steps{10, 30, 90, 100});
  CHECK(rung_steps(10, 3, 10) == steps{10});
  CHECK(rung_steps(10, 3, 7) == steps{7});
  CHECK(rung_steps(1, 2, 5) == steps{1, 2, 4, 5});
  CHECK(rung_steps(1, 1'000'000'000, 4'000'000'000) == steps{1, 1'000'000'000, 4'000'000'000});
}

TEST_CASE("rungs that could not be are refused", "[selection]") {
  CHECK_THROWS_AS(rung_steps(0, 2, 10), fault_error);
  CHECK_THROWS_AS(rung_steps(1, 1, 10), fault_error);
  CHECK_THROWS_AS(rung_steps(1, 2, 0), fault_error);
}

TEST_CASE("a rung decides after exactly its steps, and the end decides nothing", "[selection]") {
  const steps rungs{10, 30, 40};
  CHECK(rung_at(rungs, 10) == 0u);
  CHECK(rung_at(rungs, 30) == 1u);
  CHECK_FALSE(rung_at(rungs, 40));
  CHECK_FALSE(rung_at(rungs, 20));
}

TEST_CASE("the next rung that decides is behind the steps, and the end is none", "[selection]") {
  const steps rungs{10, 30, 40};
  CHECK(rung_behind(rungs, 0) == 10);
  CHECK(rung_behind(rungs, 10) == 30);
  CHECK(rung_behind(rungs, 29) == 30);
  CHECK(rung_behind(rungs, 30) == 0);
  CHECK(rung_behind({40}, 0) == 0);
}

TEST_CASE("a lower score is better, then a lower place; one that is not finite is worse than all others",
          "[selection]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  CHECK(is_better({1, 5}, {2, 1}));
  CHECK(is_better({1, 1}, {1, 2}));
  CHECK_FALSE(is_better({1, 1}, {1, 1}));
  CHECK(is_better({1e300, 9}, {nan, 1}));
  CHECK(is_better({1e300, 9}, {-infinite, 1}));
  CHECK(is_better({nan, 1}, {infinite, 2}));
  CHECK_FALSE(is_better({nan, 2}, {nan, 1}));
}

TEST_CASE("rungs are described for people", "[selection]") {
  CHECK(describe_rungs({10, 30, 90, 270}, 3) == "1 of 3 goes on after 10, 30 and 90 of 270 steps");
  CHECK(describe_rungs({10, 20}, 2) == "1 of 2 goes on after 10 of 20 steps");
  CHECK(describe_rungs({20}, 2) == "all train their 20 steps");
}
