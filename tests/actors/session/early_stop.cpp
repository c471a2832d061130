#include "actors/session/early_stop.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <vector>

using namespace hydra;
using Catch::Contains;

namespace {

std::vector<evaluation_record> some_losses(std::initializer_list<double> values) {
  std::vector<evaluation_record> all;
  for (const double loss : values) all.push_back({static_cast<std::uint32_t>(all.size() + 1), loss});
  return all;
}

bool stops(const evaluation_callback& callback, const std::string& name, std::vector<evaluation_record> history) {
  control wishes;
  callback({.model = model_id{4}, .name = name, .accuracy = {}, .history = std::move(history)}, wishes);
  return wishes.stopped() == std::vector{model_id{4}};
}

}  // namespace

TEST_CASE("patience ends with the last of so many evaluations that were no better than the best one before") {
  const early_stop_options two{.patience = 2};
  CHECK_FALSE(out_of_patience({}, two));
  CHECK_FALSE(out_of_patience(some_losses({3, 2, 2}), two));
  CHECK(out_of_patience(some_losses({3, 2, 2, 2.5}), two));
  CHECK_FALSE(out_of_patience(some_losses({3, 2, 2.5, 1.9}), two));
  CHECK_FALSE(out_of_patience(some_losses({3, 2, 2.5, 1.9, 2}), two));
}

TEST_CASE("a loss that falls by less than the minimum does not count as better, however often") {
  CHECK(out_of_patience(some_losses({3, 2.95, 2.92}), {.patience = 2, .minimum = 0.1}));
  CHECK_FALSE(out_of_patience(some_losses({3, 2.95, 2.85}), {.patience = 2, .minimum = 0.1}));
}

TEST_CASE("a loss that is not a number is never better") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(out_of_patience(some_losses({none, none}), {.patience = 2}));
  CHECK_FALSE(out_of_patience(some_losses({none, 3, none}), {.patience = 2}));
}

TEST_CASE("early stopping stops the models that it watches") {
  const auto all = early_stop({.patience = 1});
  CHECK(stops(all, "a", some_losses({1, 2})));
  CHECK_FALSE(stops(all, "a", some_losses({2, 1})));
  const auto some = early_stop({.patience = 1, .models = {"b"}});
  CHECK_FALSE(stops(some, "a", some_losses({1, 2})));
  CHECK(stops(some, "b", some_losses({1, 2})));
}

TEST_CASE("early stopping without patience, or with a negative minimum, is refused") {
  CHECK_THROWS_WITH(early_stop({.patience = 0}), Contains("patience: must be at least 1, got 0"));
  CHECK_THROWS_WITH(early_stop({.minimum = -1}), Contains("minimum: must be at least 0, got -1"));
}

TEST_CASE("the last evaluation is best if it is better than all before, and a number") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto last_is_best = [](std::initializer_list<double> values) {
    return model_history{.losses = {}, .grad_norms = {}, .evaluations = some_losses(values)}.last_is_best();
  };
  CHECK(last_is_best({2}));
  CHECK(last_is_best({2, 3, 1}));
  CHECK_FALSE(last_is_best({2, 3}));
  CHECK_FALSE(last_is_best({2, 2}));
  CHECK_FALSE(last_is_best({none}));
  CHECK(last_is_best({none, 2}));
  CHECK_FALSE(last_is_best({2, none}));
}
