#include "tests/support/depth.hpp"
#include "tests/support/mixed_workload.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

TEST_CASE("one roomy device and two tiny ones give plain training's bits", "[schedules]") {
  require_mixed_bits(train_spilled(mixed_workload(), {.devices = {roomy()}}));
  require_mixed_bits(train_spilled(mixed_workload(), {.devices = {tiny(), tiny()}}));
}

TEST_CASE("unequal speeds and slow links give plain training's bits", "[schedules]") {
  const cpu_device slow{
      .memory = tiny().memory, .link = 100_MiB_per_s, .latency = std::chrono::microseconds(20), .speed = 0.3};
  require_mixed_bits(train_spilled(mixed_workload(), {.devices = {roomy(), slow}}));
  require_mixed_bits(train_spilled(mixed_workload(), {.devices = {slow, tiny(), slow}}));
}

TEST_CASE("every policy gives plain training's bits", "[schedules]") {
  for (const std::string& policy : sampled(names_of_policies(), 6)) {
    INFO(policy);
    require_mixed_bits(train_spilled(mixed_workload(), {.devices = {tiny(), tiny()}, .policy = policy}));
  }
}

TEST_CASE("a model trained alone and one trained among others have the same bits", "[schedules]") {
  const auto all = mixed_workload();
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("model " << i);
    REQUIRE(difference(plain_results()[i], train_spilled({all[i]}, {.devices = {tiny()}}), 0) == "");
  }
}

TEST_CASE("each ablation gives plain training's bits", "[schedules]") {
  const run_options base{.devices = {tiny(), tiny()}};
  for (int i = 0; i < 5; ++i) {
    auto options = base;
    options.ablation = {.double_buffer = i != 0, .cache = i != 1 && i != 4, .copy_back_clean = i >= 3, .sharp = i != 2};
    INFO("ablation " << i);
    require_mixed_bits(train_spilled(mixed_workload(), options));
  }
}

TEST_CASE("a callback that only watches changes no bit", "[schedules]") {
  std::vector<float> seen;
  const step_callback watch = [&](const step_completed& e, control&) {
    if (e.model == model_id{0}) {
      seen.push_back(e.loss);
    }
  };
  require_mixed_bits(train_spilled(mixed_workload(), {.devices = {tiny(), tiny()}, .callbacks = {watch}}));
  REQUIRE(seen == plain_results()[0].losses);
}

TEST_CASE("a device that dies at any operation changes no bit", "[schedules][loss]") {
  for (const std::size_t dies_at : sampled(moments(60, 400, 7), 8)) {
    INFO("the second device dies at operation " << dies_at);
    const auto spilled = train_spilled(mixed_workload(), {.devices = {tiny(), tiny()}, .second_dies_at = dies_at});
    require_mixed_bits(spilled);
    if (!spilled.summary.devices[1].lost) {
      break;  // the run ended before
    }
  }
}

TEST_CASE("a device whose computation hangs for ever changes no bit and does not hold the end of the run",
          "[schedules][loss]") {
  const auto where = std::make_shared<hanging_point>();
  const opens_at_exit release{where->go_on};
  const auto spilled = train_spilled(mixed_workload(), {.devices = {tiny(), tiny()},
                                                        .second_hangs_at = 5,
                                                        .hangs = where,
                                                        .watch = {.minimum = std::chrono::seconds(10)}});
  REQUIRE(where->entered.wait());
  require_mixed_bits(spilled);
  REQUIRE(spilled.summary.devices[1].lost);
  where->go_on.open();  // its completions are ignored from now on
  REQUIRE(where->left.wait());
}
