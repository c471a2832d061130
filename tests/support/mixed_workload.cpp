#include "tests/support/mixed_workload.hpp"

#include <catch2/catch.hpp>

namespace hydra::test {

using namespace hydra::literals;

std::vector<exact_case> mixed_workload() {
  auto a = tiny_gpt(0.1, true);
  a.cuts = {0, 2, 4};
  a.optimizer.clip_norm = 0.5;
  auto b = tiny_gpt(0.0, false);
  b.cuts = {0, 1, 2, 3, 4};
  b.micro_batches = 4;
  b.optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
  b.seed = 2;
  auto c = tiny_gpt(0.2, true);
  c.cuts = {0, 3};
  c.micro_batches = 2;
  c.steps = 4;
  c.seed = 3;
  return {a, b, c};
}

const std::vector<reference_result>& plain_results() {
  static const auto results = train_plain(mixed_workload());
  return results;
}

void require_mixed_bits(const spilled_result& spilled) {
  REQUIRE(difference(plain_results(), spilled) == "");
  for (const auto& d : spilled.summary.devices) {
    INFO(d.name);
    REQUIRE(d.peak <= d.budget);
  }
}

cpu_device roomy() { return {.memory = 64_MiB}; }
cpu_device tiny() { return {.memory = byte_count{170496}}; }

}  // namespace hydra::test
