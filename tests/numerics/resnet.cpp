// Running averages through the whole system: gathered in backward visits, committed with gradients, promoted, evaluated
// with, saved.

#include "models/families/resnet/resnet.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// 5 layers, which 3 cuts below divide; images of 16 x 16, of which the last layers see 2 x 2.
exact_case tiny_resnet() {
  exact_case c;
  c.chain = resnet({.depths = {1, 2}, .hidden_sizes = {8, 16}, .embedding_size = 4});
  c.data = open_data(
      {synthetic_classes{.shape = {3, 16, 16}, .classes = 5, .samples = 40, .validation_samples = 24}, true}, 0);
  c.batch_size = 8;
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

const std::vector<cut_points> one_to_three_shards{{0}, {0, 3}, {0, 1, 3}};

constexpr const char* some_mean = "resnet.encoder.stages.1.layers.1.layer.2.normalization.running_mean";

}  // namespace

TEST_CASE("a spilled ResNet with its running averages equals plain training bit for bit wherever it is cut",
          "[exactness]") {
  for (const auto& row : combinations({2, 2, 2, one_to_three_shards.size()})) {
    auto c = tiny_resnet();
    c.micro_batches = row[0] == 0 ? 1 : 4;
    if (row[1] == 1) c.optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
    c.optimizer.clip_norm = row[2] == 0 ? 0 : 0.25;
    c.cuts = one_to_three_shards[row[3]];
    const auto plain = train_plain(c);
    CHECK(plain.parameters.at(some_mean) != std::vector<float>(16, 0));
    INFO(c.cuts.size() << " shards, K = " << c.micro_batches << ", sgd " << row[1] << ", clip "
                       << c.optimizer.clip_norm);
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("running averages do not count in the norm, and clipping does not scale them", "[exactness]") {
  auto c = tiny_resnet();
  c.steps = 1;  // both runs see the same parameters
  c.optimizer = sgd({.learning_rate = 0.05});
  const auto free = train_plain(c);
  c.optimizer.clip_norm = 1e-3;
  const auto clipped = train_plain(c);
  CHECK(free.parameters.at(some_mean) == clipped.parameters.at(some_mean));
  CHECK(free.parameters.at("classifier.1.bias") != clipped.parameters.at("classifier.1.bias"));
  c.cuts = {0, 3};
  REQUIRE(difference(clipped, train_spilled({c}, {}), 0) == "");
}

TEST_CASE("two ResNets on two devices with little memory do not touch each other's averages", "[exactness]") {
  auto a = tiny_resnet(), b = tiny_resnet();
  a.cuts = {0, 1, 2, 3, 4};
  b.cuts = {0, 2, 4};
  b.micro_batches = 2;
  b.seed = 2;
  const cpu_device small{.memory = 400_KiB};
  const auto spilled = train_spilled({a, b}, {.devices = {small, small}});
  REQUIRE(difference(train_plain(a), spilled, 0) == "");
  REQUIRE(difference(train_plain(b), spilled, 1) == "");
}

TEST_CASE("a ResNet evaluates with its running averages", "[exactness]") {
  auto c = tiny_resnet();
  c.steps = 2;
  c.evaluate_every = 1;
  c.cuts = {0, 2};
  const auto trained = train_spilled({c}, {}).summary.models[0];
  c.optimizer = sgd({.learning_rate = 0});  // only the averages move
  const auto resting = train_spilled({c}, {}).summary.models[0];
  REQUIRE(resting.validation.size() == 2);
  CHECK(resting.validation[0].loss != resting.validation[1].loss);
  CHECK(resting.validation[1].loss != trained.validation[1].loss);
}

TEST_CASE("a ResNet that is interrupted, and continues under other cuts, has plain training's bits", "[resume]") {
  auto c = tiny_resnet();
  c.micro_batches = 2;
  c.steps = 6;
  c.optimizer.clip_norm = GENERATE(0.0, 0.25);
  run_options options{.interrupt_at = 7};
  options.checkpoint.every_steps = 1;
  std::size_t runs = 0;
  const auto result = train_in_parts({c}, options, [&](std::size_t n, std::vector<exact_case>& models, run_options&) {
    runs = n;
    models.front().cuts = n == 0 ? models.front().cuts : one_to_three_shards[n % 3];
  });
  CHECK(runs > 0);
  REQUIRE(difference(train_plain(c), result, 0) == "");
}
