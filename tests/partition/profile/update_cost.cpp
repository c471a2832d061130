#include "partition/profile/update_cost.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

TEST_CASE("every update rule has a rate, and time grows with the elements") {
  for (const auto& rule : {adamw({}), sgd({}), sgd({.momentum = 0.9, .nesterov = true})}) {
    CHECK(measure_update(rule).per_second() > 0);
  }
  CHECK(element_rate{1e6}.time_for(2000) == 2ms);
  CHECK(element_rate{}.time_for(2000) == 0ms);
}

TEST_CASE("rules that differ in numbers alone are the same arithmetic") {
  CHECK(same_arithmetic(adamw({.learning_rate = 1e-3}), adamw({.learning_rate = 1e-4})));
  CHECK_FALSE(same_arithmetic(adamw({}), sgd({})));
  CHECK_FALSE(same_arithmetic(sgd({}), sgd({.momentum = 0.9})));
}
