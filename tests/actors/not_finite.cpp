// A training that diverges with its last update: its losses are finite, and it has failed nevertheless.

#include "actors/session/hydra.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;

namespace not_finite_test {

/// One step at a rate at which the next forward pass overflows.
model_description diverging() {
  return {.name = "wild",
          .chain = mlp({.layers = 3, .width = 32}),
          .data = {synthetic_classes{.validation_samples = 16}},
          .batch_size = 8,
          .steps = 1,
          .optimizer = sgd({.learning_rate = 1e30})};
}

/// The update itself overflows, and there is nothing to evaluate.
model_description overflowing() {
  auto m = diverging();
  m.data = {synthetic_classes{.validation_samples = 0, .noise = 1e4}};
  m.optimizer = sgd({.learning_rate = 1e38});
  return m;
}

report trained(model_description m, optimizer_place place = optimizer_place::host) {
  session s{{.optimizer_on = place, .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(std::move(m));
  return s.run();
}

TEST_CASE("a model whose last evaluation is not finite fails with the step, unless that is to be ignored") {
  auto ignoring = diverging();
  ignoring.stop_on_nan = false;
  const auto failed = trained(diverging()).models.at(0), ignored = trained(ignoring).models.at(0);
  REQUIRE(failed.loss.size() == 1);
  CHECK(std::isfinite(failed.loss[0]));
  CHECK(failed.status == model_status::failed);
  CHECK(failed.error.code == fault_code::not_finite);
  CHECK_THAT(failed.error.text, Contains("its validation after step 1 is nan; ") && !Contains("-nan"));
  REQUIRE(failed.validation.size() == 1);
  CHECK(std::isnan(failed.validation[0].loss));
  CHECK(ignored.status == model_status::finished);
  CHECK(std::isnan(ignored.validation.at(0).loss));
}

TEST_CASE("a model whose last update overflows fails without an evaluation, too, wherever it is updated") {
  const auto place = GENERATE(optimizer_place::host, optimizer_place::device);
  auto ignoring = overflowing();
  ignoring.stop_on_nan = false;
  const auto failed = trained(overflowing(), place).models.at(0), ignored = trained(ignoring, place).models.at(0);
  CHECK(failed.status == model_status::failed);
  CHECK(failed.error.code == fault_code::not_finite);
  CHECK_THAT(failed.error.text, Contains(" after step 1, the last one, are not finite, although the losses were"));
  CHECK(failed.digest.empty());
  CHECK(ignored.status == model_status::finished);
  REQUIRE(ignored.loss.size() == 1);
  CHECK(std::isfinite(ignored.loss[0]));
}

}  // namespace not_finite_test
