#include "models/families/llama/llama.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/phi3/phi3.hpp"
#include "tests/support/depth.hpp"

#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

/// 3 blocks (5 layers) with all that Llama and its kin have.

namespace llama_test {

exact_case tiny_llama(bool tied) {
  auto c = tiny_gpt(0, tied);
  c.chain = llama({.layers = 3,
                   .width = 16,
                   .heads = 4,
                   .kv_heads = 2,
                   .head_size = 6,
                   .hidden = 24,
                   .context = 6,
                   .scaling = {.how = rope_scaling::kind::linear, .factor = 2},
                   .tied = tied,
                   .qkv_bias = true,
                   .qk_norm = true});
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

/// Windows shorter than the context, caps, and blocks of two kinds.
exact_case tiny_gemma() {
  auto c = tiny_gpt(0, true);
  c.chain = gemma({.layers = 3,
                   .width = 16,
                   .heads = 4,
                   .kv_heads = 2,
                   .head_size = 6,
                   .hidden = 24,
                   .context = 6,
                   .window = 4,
                   .full_layers = {1},
                   .local_rope_theta = 100,
                   .score_cap = 2,
                   .logit_cap = 5,
                   .qk_norm = true});
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

exact_case tiny_phi3() {
  auto c = tiny_gpt(0, false);
  c.chain = phi3({.layers = 3, .width = 16, .heads = 2, .kv_heads = 1, .hidden = 24, .context = 6, .rotated = 6});
  return c;
}

void check_cuts(const std::vector<exact_case>& models, const std::vector<cut_points>& cuts) {
  for (const auto& row : combinations({models.size(), 2, cuts.size()})) {
    auto c = models[row[0]];
    c.micro_batches = row[1] == 0 ? 1 : 4;
    c.optimizer.clip_norm = 0.25;
    c.cuts = cuts[row[2]];
    INFO("model " << row[0] << ", " << c.cuts.size() << " shards, K = " << c.micro_batches);
    REQUIRE(difference(train_plain(c), train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("spilled training of a gemma and of a phi3 equals plain training bit for bit",
          "[exactness]") {
  check_cuts({tiny_gemma(), tiny_phi3()}, {{0, 3}, {0, 1, 2, 3, 4}});
}

TEST_CASE("spilled training of a llama equals plain training bit for bit", "[exactness]") {
  check_cuts({tiny_llama(false), tiny_llama(true)}, {{0}, {0, 3}, {0, 1, 2, 3, 4}});
}

TEST_CASE("a llama on two devices that hold one shard each equals plain training bit for bit", "[exactness]") {
  auto c = tiny_llama(true);
  c.cuts = {0, 1, 2, 3, 4};
  c.micro_batches = 2;
  const auto plain = train_plain(c);
  const cpu_device tiny{.memory = 128_KiB};
  REQUIRE(difference(plain, train_spilled({c}, {.devices = {tiny, tiny}}), 0) == "");
}

}  // namespace llama_test
