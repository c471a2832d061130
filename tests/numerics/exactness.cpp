#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// 1, 2, 3 and 5 shards of the 5 layers; 8 shards need a deeper chain.
const std::map<int, cut_points> cuts_of_five{{1, {0}}, {2, {0, 3}}, {3, {0, 2, 4}}, {5, {0, 1, 2, 3, 4}}};

exact_case matrix_case(std::uint32_t micro_batches, bool clip, double dropout, bool sgd_with_momentum, bool tied) {
  auto c = tiny_gpt(dropout, tied);
  c.micro_batches = micro_batches;
  c.optimizer = sgd_with_momentum ? sgd({.learning_rate = 0.05, .momentum = 0.9}) : adamw({.learning_rate = 1e-2});
  c.optimizer.clip_norm = clip ? 0.25 : 0;
  return c;
}

}  // namespace

TEST_CASE("spilled training equals plain training bit for bit over the exactness matrix", "[exactness]") {
  const std::uint32_t micro_batches = GENERATE(1u, 4u);
  const bool clip = GENERATE(false, true);
  const double dropout = GENERATE(0.0, 0.1);
  const bool momentum = GENERATE(false, true);
  const bool tied = GENERATE(false, true);
  auto c = matrix_case(micro_batches, clip, dropout, momentum, tied);
  const auto plain = train_plain(c);
  for (const auto& [shards, cuts] : cuts_of_five) {
    INFO(shards << " shards, K = " << micro_batches << (clip ? ", clip" : "") << (dropout > 0 ? ", dropout" : "")
                << (momentum ? ", sgd" : ", adamw") << (tied ? ", tied" : ""));
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("eight shards on two devices with tiny budgets equal plain training bit for bit", "[exactness]") {
  auto c = tiny_gpt(0.1, true);
  c.chain = gpt2({.layers = 6, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .tied = true});
  c.cuts = {0, 1, 2, 3, 4, 5, 6, 7};
  c.micro_batches = GENERATE(1u, 4u);
  c.optimizer.clip_norm = 0.5;
  const auto plain = train_plain(c);
  const cpu_device tiny{.memory = 96_KiB};
  REQUIRE(difference(plain, train_spilled({c}, {.devices = {tiny, tiny}}), 0) == "");
}
