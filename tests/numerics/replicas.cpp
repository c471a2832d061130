// A step in several replicas: bit for bit a plain training that adds up the gradients of each replica by itself.

#include "models/families/resnet/resnet.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace replicas_test {

exact_case replicated(exact_case c, std::uint32_t replicas) {
  c.batch_size = 8;
  c.micro_batches = 4;
  c.replicas = replicas;
  return c;
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

TEST_CASE("one, two and four replicas on one to three devices have the bits of plain training", "[replicas]") {
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 3}};
  for (const auto& row : combinations({2, 3, 3, 3})) {
    auto c = replicated(tiny_gpt(0.1, true), 1U << row[1]);
    c.optimizer.clip_norm = row[0] == 0 ? 0 : 0.05;
    c.cuts = cuts[row[2]];
    const std::size_t n = row[3] + 1;
    INFO(fmt::format("{} replicas, {} shards, clip {}, {} devices", c.replicas, c.cuts.size(), c.optimizer.clip_norm,
                     n));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(n)}), 0) == "");
  }
}

namespace {

/// A model in replicas between two others, and their plain results.
std::vector<exact_case> workload() {
  auto a = replicated(tiny_gpt(0.1, true), 4);
  a.cuts = {0, 2, 4};
  a.optimizer.clip_norm = 0.05;
  auto b = tiny_gpt(0.0, false);
  b.micro_batches = 2;
  b.cuts = {0, 3};
  auto c = replicated(tiny_gpt(0.0, true), 2);
  c.cuts = {0, 1, 2, 3, 4};
  return {b, a, c};
}

void require_plain_bits(const spilled_result& spilled) {
  static const auto plain = train_plain(workload());
  REQUIRE(difference(plain, spilled) == "");
}

}  // namespace

TEST_CASE("replicas decide bits: two have others than one", "[replicas]") {
  const auto digest = [](std::uint32_t replicas) {
    return train_plain(replicated(tiny_gpt(0.0, true), replicas)).digest;
  };
  CHECK(digest(1) != digest(2));
  CHECK(digest(2) != digest(4));
}

TEST_CASE("in bf16 and with gradients in bf16 replicas have the bits of plain training", "[replicas]") {
  for (const auto gradients : {precision::fp32, precision::bf16}) {
    for (const double clip : {0.0, 0.05}) {
      auto c = replicated(tiny_gpt(0.0, true), 2);
      c.numbers = precision::bf16;
      c.gradients = gradients;
      c.optimizer.clip_norm = clip;
      c.cuts = {0, 2, 4};
      INFO("gradients in " << to_string(gradients) << ", clip " << clip);
      REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
    }
  }
}

TEST_CASE("running averages of a batch norm are those of all replicas", "[replicas]") {
  auto c = replicated(tiny_cnn(), 4);
  c.chain = resnet({.depths = {1, 2}, .hidden_sizes = {8, 16}, .embedding_size = 4});
  c.data = open_data(
      {synthetic_classes{.shape = {3, 16, 16}, .classes = 5, .samples = 40, .validation_samples = 24}, true}, 0);
  c.cuts = {0, 1, 3};
  REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
}

TEST_CASE("models with and without replicas have the bits of plain training under every policy", "[replicas]") {
  for (const std::string& policy : sampled(names_of_policies(), 5)) {
    INFO(policy);
    require_plain_bits(train_spilled(workload(), {.devices = devices(3), .policy = policy}));
  }
}

TEST_CASE("a device that dies at any operation changes no bit of a model in replicas", "[replicas][loss]") {
  for (const std::size_t dies_at : sampled(moments(80, 500, 11), 8)) {
    INFO("the second device dies at operation " << dies_at);
    const auto spilled = train_spilled(workload(), {.devices = devices(3), .second_dies_at = dies_at});
    require_plain_bits(spilled);
    if (!spilled.summary.devices[1].lost) {
      break;  // the run ended before
    }
  }
}

TEST_CASE("a model in replicas that is interrupted and resumed has the bits of plain training", "[replicas][resume]") {
  for (const std::size_t after : {8, 15, 25}) {
    INFO("interrupted before backward computation " << after);
    require_plain_bits(
        train_in_parts(workload(), {.interrupt_at = after},
                       [](std::size_t n, auto&, run_options& options) { options.devices = devices(1 + n % 3); }));
  }
}

TEST_CASE("a model in replicas that is cut elsewhere continues from the start of a step", "[replicas][resume]") {
  run_options options{.devices = devices(2), .interrupt_at = 34, .after_step_of = {1}};
  options.checkpoint.every_steps = 1;
  const auto change = [](std::size_t n, std::vector<exact_case>& models, run_options&) {
    models[1].cuts = n % 2 == 0 ? cut_points{0, 2, 4} : cut_points{0, 3};
  };
  require_plain_bits(train_in_parts(workload(), options, change));
}

TEST_CASE("the host memory that the plan asks for is enough for all gradient sums", "[replicas][budgets]") {
  for (const std::size_t n : {1, 3}) {
    const auto needed = planned_host_memory(workload(), {.devices = devices(n)});
    const auto spilled = train_spilled(workload(), {.devices = devices(n), .host_memory = needed});
    require_plain_bits(spilled);
    CHECK(spilled.summary.host_peak <= needed);
  }
}

}  // namespace replicas_test
