#include "actors/session.hpp"

#include "models/mlp.hpp"
#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;

namespace {

/// 512 batches an epoch.
model_description small(std::uint32_t epochs) {
  return {.name = "small",
          .chain = mlp({.layers = 1, .width = 8}),
          .data = {synthetic_classes{.samples = 4096}},
          .batch_size = 8,
          .epochs = epochs,
          .optimizer = sgd({.learning_rate = 0.1})};
}

}  // namespace

TEST_CASE("epochs that make more steps than can be counted are refused") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  s.add_model(small(8'388'608));  // times 512: one too many
  CHECK_THROWS_WITH(s.plan(), Contains("model 'small': epochs: 8388608 epochs of 512 batches are more steps than can be counted"));
}

TEST_CASE("as many epochs as can be counted are planned") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 16_MiB});
  s.add_model(small(8'388'607));
  CHECK(s.plan().models.size() == 1);
}

TEST_CASE("minutes between checkpoints that are no time are refused") {
  const double minutes = GENERATE(-1.0, 1e9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_WITH(session({.checkpoint = {.every_minutes = minutes}}), Contains("checkpoint.every_minutes: ") && Contains("use 0"));
}
