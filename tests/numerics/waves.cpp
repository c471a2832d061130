// A replica in several waves: bit for bit a plain training with as many replicas, which knows no waves.

#include "models/families/gpt2/gpt2.hpp"
#include "models/families/resnet/resnet.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace waves_test {

exact_case divided(exact_case c, std::uint32_t replicas, std::uint32_t waves) {
  c.batch_size = 16;
  c.micro_batches = 16;
  c.replicas = replicas;
  c.waves = waves;
  return c;
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

TEST_CASE("one, two and four waves of one to four replicas on one to three devices have the bits of plain training",
          "[waves]") {
  const std::vector<std::uint32_t> powers{1, 2, 4};
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 3}};
  for (const auto& row : combinations({2, 3, 3, 3, 3})) {
    auto c = divided(tiny_gpt(0.1, true), powers[row[1]], powers[row[2]]);
    c.optimizer.clip_norm = row[0] == 0 ? 0 : 0.05;
    c.cuts = cuts[row[3]];
    const std::size_t n = row[4] + 1;
    INFO(fmt::format("{} replicas, {} waves, {} shards, clip {}, {} devices", c.replicas, c.waves, c.cuts.size(),
                     c.optimizer.clip_norm, n));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(n)}), 0) == "");
  }
}

namespace {

/// Models in waves and replicas between others, and their plain results.
std::vector<exact_case> workload() {
  auto a = divided(tiny_gpt(0.1, true), 1, 4);
  a.batch_size = a.micro_batches = 8;
  a.cuts = {0, 2, 4};
  a.optimizer.clip_norm = 0.05;
  auto b = tiny_gpt(0.0, false);
  b.micro_batches = 2;
  b.cuts = {0, 3};
  auto c = divided(tiny_gpt(0.0, true), 2, 2);
  c.batch_size = c.micro_batches = 8;
  c.cuts = {0, 1, 2, 3, 4};
  return {b, a, c};
}

void require_plain_bits(const spilled_result& spilled) {
  static const auto plain = train_plain(workload());
  REQUIRE(difference(plain, spilled) == "");
}

}  // namespace

TEST_CASE("in bf16 and with gradients in bf16 waves have the bits of plain training", "[waves]") {
  for (const auto gradients : {precision::fp32, precision::bf16}) {
    for (const double clip : {0.0, 0.05}) {
      auto c = divided(tiny_gpt(0.0, true), 2, 4);
      c.numbers = precision::bf16;
      c.gradients = gradients;
      c.optimizer.clip_norm = clip;
      c.cuts = {0, 2, 4};
      INFO("gradients in " << to_string(gradients) << ", clip " << clip);
      REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
    }
  }
}

TEST_CASE("what attention drops out depends on the micro-batch, not on its wave", "[waves]") {
  auto c = divided(tiny_gpt(0.1, true), 2, 1);
  c.chain = gpt2({.layers = 3, .width = 16, .heads = 2, .context = c.data->sample_input().shape.front(), .dropout = 0.1,
                  .attention_dropout = 0.2});
  c.cuts = {0, 2, 4};
  const auto plain = train_plain(c);
  REQUIRE(plain.digest != train_plain(divided(tiny_gpt(0.1, true), 2, 1)).digest);
  for (const std::uint32_t waves : {2, 8}) {
    c.waves = waves;
    INFO(waves << " waves");
    REQUIRE(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("running averages of a batch norm are those of all waves", "[waves]") {
  auto c = divided(tiny_cnn(), 2, 4);
  c.chain = resnet({.depths = {1, 2}, .hidden_sizes = {8, 16}, .embedding_size = 4});
  c.data = open_data(
      {synthetic_classes{.shape = {3, 16, 16}, .classes = 5, .samples = 40, .validation_samples = 24}, true}, 0);
  c.batch_size = 32;
  c.cuts = {0, 1, 3};
  REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
}

TEST_CASE("models with and without waves have the bits of plain training under every policy", "[waves]") {
  for (const std::string& policy : sampled(names_of_policies(), 5)) {
    INFO(policy);
    require_plain_bits(train_spilled(workload(), {.devices = devices(3), .policy = policy}));
  }
}

TEST_CASE("waves on devices with just enough memory have the bits of plain training", "[waves][budgets]") {
  for (const auto gradients : {precision::fp32, precision::bf16}) {
    auto models = workload();
    for (auto& m : models) {
      m.numbers = gradients;
      m.gradients = gradients;
    }
    const auto enough = plan_of(models, {.devices = devices(1)}).sufficient;
    for (const std::size_t n : {1, 3}) {
      const auto spilled = train_spilled(models, {.devices = std::vector(n, cpu_device{.memory = enough})});
      for (std::size_t i = 0; i < models.size(); ++i) {
        INFO(fmt::format("model {}, {} devices", i, n));
        REQUIRE(difference(train_plain(models[i]), spilled, i) == "");
      }
    }
  }
}

TEST_CASE("a device that dies at any operation changes no bit of a model in waves", "[waves][loss]") {
  for (const std::size_t dies_at : sampled(moments(120, 1500, 13), 8)) {
    INFO("the second device dies at operation " << dies_at);
    const auto spilled = train_spilled(workload(), {.devices = devices(3), .second_dies_at = dies_at});
    require_plain_bits(spilled);
    if (!spilled.summary.devices[1].lost) {
      break;  // the run ended before
    }
  }
}

TEST_CASE("a model in waves that is interrupted and resumed has the bits of plain training", "[waves][resume]") {
  for (const std::size_t after : {15, 40, 70}) {
    INFO("interrupted before backward computation " << after);
    require_plain_bits(
        train_in_parts(workload(), {.interrupt_at = after},
                       [](std::size_t n, auto&, run_options& options) { options.devices = devices(1 + n % 3); }));
  }
}

TEST_CASE("a model continues in other waves: from where it was, with those that it had, or from the start of a step",
          "[waves][resume]") {
  run_options options{.devices = devices(2), .interrupt_at = 66, .after_step_of = {1, 2}};
  options.checkpoint.every_steps = 1;
  const auto change = [](std::size_t n, std::vector<exact_case>& models, run_options&) {
    models[1].waves = n % 2 == 0 ? 4 : 1;
    models[2].waves = n % 2 == 0 ? 2 : 4;
  };
  require_plain_bits(train_in_parts(workload(), options, change));
}

TEST_CASE("the host memory that the plan asks for is enough for all partial sums", "[waves][budgets]") {
  for (const std::size_t n : {1, 3}) {
    const auto needed = planned_host_memory(workload(), {.devices = devices(n)});
    const auto spilled = train_spilled(workload(), {.devices = devices(n), .host_memory = needed});
    require_plain_bits(spilled);
    CHECK(spilled.summary.host_peak <= needed);
  }
}

}  // namespace waves_test
