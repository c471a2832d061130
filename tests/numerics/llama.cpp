#include "models/families/llama/llama.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/phi3/phi3.hpp"

#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// 3 blocks (5 layers) with all that Llama and its kin have.
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

}  // namespace

TEST_CASE("spilled training of a gemma and of a phi3 equals plain training bit for bit",
          "[exactness]") {
  auto c = GENERATE(tiny_gemma(), tiny_phi3());
  c.micro_batches = GENERATE(1u, 4u);
  c.optimizer.clip_norm = 0.25;
  const auto plain = train_plain(c);
  for (const cut_points& cuts : {cut_points{0, 3}, cut_points{0, 1, 2, 3, 4}}) {
    INFO(cuts.size() << " shards, K = " << c.micro_batches);
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("spilled training of a llama equals plain training bit for bit", "[exactness]") {
  auto c = tiny_llama(GENERATE(false, true));
  c.micro_batches = GENERATE(1u, 4u);
  c.optimizer.clip_norm = 0.25;
  const auto plain = train_plain(c);
  for (const cut_points& cuts : {cut_points{0}, cut_points{0, 3}, cut_points{0, 1, 2, 3, 4}}) {
    INFO(cuts.size() << " shards, K = " << c.micro_batches);
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("a llama on two devices that hold one shard each equals plain training bit for bit", "[exactness]") {
  auto c = tiny_llama(true);
  c.cuts = {0, 1, 2, 3, 4};
  c.micro_batches = 2;
  const auto plain = train_plain(c);
  const cpu_device tiny{.memory = 128_KiB};
  REQUIRE(difference(plain, train_spilled({c}, {.devices = {tiny, tiny}}), 0) == "");
}
