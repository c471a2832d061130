#include "partition/profile/update_cost.hpp"

#include "models/chain.hpp"
#include "models/layers/linear.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>

using namespace hydra;
using namespace std::chrono_literals;

TEST_CASE("every update rule has a rate, and time grows with the elements") {
  for (const auto& rule :
       {adamw({}), sgd({}), sgd({.momentum = 0.9, .nesterov = true}), adamw8bit({}), adafactor({})}) {
    CHECK(measure_update(rule).elements.per_second() > 0);
    CHECK(measure_update(rule).products.per_second() == 0);
  }
  CHECK(element_rate{1e6}.time_for(2000) == 2ms);
  CHECK(element_rate{}.time_for(2000) == 0ms);
}

TEST_CASE("under muon time depends on the shapes of matrices in hidden layers, and on the elements of the rest") {
  const auto rates = measure_update(muon({}));
  CHECK(rates.elements.per_second() > 0);
  CHECK(rates.products.per_second() > 0);
  chain model{"test", {{8}, element::f32}, cross_entropy()};
  for (const auto& [in, out] : {std::pair{8, 64}, {64, 32}, {32, 128}, {128, 4}}) {
    model.add(std::to_string(in) + ".", std::make_shared<linear>(linear_options{.in = in, .out = out}));
  }
  const auto work = [&](std::size_t layer) { return work_of(parameter_layout(model, layer, layer + 1), muon({})); };
  CHECK(work(0).products == 0);
  CHECK(work(1).products == 5 * (32 * 32 * 64 * 3 / 2 + 32 * 32 * 32 / 2));
  CHECK(work(2).products == 5 * (32 * 32 * 128 * 3 / 2 + 32 * 32 * 32 / 2));
  CHECK(work(3).products == 0);
  CHECK(work(3).elements >= 128 * 4);
  CHECK(work_of(parameter_layout(model, 1, 2), adamw({})).products == 0);
  const update_rates given{.elements = element_rate{1e6}, .products = element_rate{1e3}};
  CHECK(given.time_for({.elements = 2000, .products = 5}) == 7ms);
}

TEST_CASE("rules that differ in numbers alone are the same arithmetic") {
  CHECK(same_arithmetic(adamw({.learning_rate = 1e-3}), adamw({.learning_rate = 1e-4})));
  CHECK_FALSE(same_arithmetic(adamw({}), sgd({})));
  CHECK_FALSE(same_arithmetic(sgd({}), sgd({.momentum = 0.9})));
}
