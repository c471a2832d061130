// Low-rank adapters: bit for bit a plain training of the same chain, and one base for models of any rank.

#include "models/families/llama/llama.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace adapters_test {

exact_case adapted(exact_case c, lora_options adapter) {
  c.batch_size = c.micro_batches = 4;
  c.chain = with_adapter(std::move(c.chain), std::move(adapter));
  return c;
}

exact_case tiny_llama() {
  auto c = tiny_gpt(0.0, false);
  c.chain = llama({.layers = 3, .width = 16, .heads = 2, .kv_heads = 1, .hidden = 24, .context = 6});
  return c;
}

/// All linear maps, with dropout; some of them and the norms of a block; the upper block only; a llama with its head.
std::vector<exact_case> choices() {
  return {adapted(tiny_gpt(0.1, true), {.rank = 2, .dropout = 0.2}),
          adapted(tiny_gpt(0.0, false), {.rank = 3, .alpha = 1, .targets = {"c_attn"}, .also_train = {"ln_1"}}),
          adapted(tiny_gpt(0.0, true), {.rank = 4, .targets = {"h.2.mlp.c_fc"}}),
          adapted(tiny_llama(), {.rank = 1, .rank_scaled = true, .targets = {"q_proj", "down_proj", "lm_head"}})};
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

TEST_CASE("adapted models on any cut, with and without clipping, have the bits of plain training", "[adapters]") {
  const auto all = choices();
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3, 4}};
  for (const auto& row : combinations({all.size(), 2, cuts.size(), 2})) {
    auto c = all[row[0]];
    c.optimizer.clip_norm = row[1] == 0 ? 0 : 0.05;
    c.cuts = cuts[row[2]];
    INFO(fmt::format("clip {}, {} shards, {} devices", c.optimizer.clip_norm, c.cuts.size(), row[3] + 1));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(row[3] + 1)}), 0) == "");
  }
}

TEST_CASE("adapted models in replicas, waves, bf16 and stepped on devices have the bits of plain training",
          "[adapters]") {
  for (auto c : choices()) {
    c.cuts = {0, 2, 3, 4};
    c.waves = 2;
    c.replicas = 2;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
    c.waves = c.replicas = 1;
    CHECK(difference(train_plain(c),
                     train_spilled({c}, {.devices = devices(2), .optimizer_on = optimizer_place::device}), 0) == "");
    c.numbers = c.gradients = precision::bf16;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

namespace {

/// Of the same base, with other ranks, targets and learning rates.
std::vector<exact_case> portfolio(std::size_t n) {
  std::vector<exact_case> all;
  for (std::size_t i = 0; i < n; ++i) {
    lora_options adapter{.rank = static_cast<std::int64_t>(i) + 1, .dropout = i % 2 == 0 ? 0.0 : 0.1};
    if (i == 2) adapter.targets = {"c_attn", "c_fc"};
    if (i == 3) adapter.also_train = {"ln_f"};
    auto c = adapted(tiny_gpt(0.1, true), adapter);
    c.optimizer = adamw({.learning_rate = 1e-2 / static_cast<double>(i + 1)});
    c.steps = 2 + static_cast<std::uint32_t>(i % 2);
    c.cuts = {0, 2, 3, 4};
    all.push_back(c);
  }
  return all;
}

void require_plain_bits(const spilled_result& spilled) {
  static const auto plain = train_plain(portfolio(4));
  REQUIRE(difference(std::span(plain).first(spilled.summary.models.size()), spilled) == "");
}

}  // namespace

TEST_CASE("models with adapters of any rank share their base, with plain training's bits under every policy",
          "[adapters]") {
  const auto plan = plan_of(portfolio(4), {.devices = devices(1)});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(plan.models[i].shards[0].shared_base == base_place{model_id{0}, shard_index{0}});
    CHECK(plan.models[i].shards[1].shared_base == base_place{model_id{0}, shard_index{1}});
  }
  CHECK(plan.models[2].shards[3].shared_base == base_place{model_id{0}, shard_index{3}});
  CHECK(plan.models[3].shards[3].shared_base != base_place{model_id{0}, shard_index{3}});
  for (const std::string& policy : sampled(names_of_policies(), 4)) {
    INFO(policy);
    run_options options{.devices = std::vector(2, cpu_device{.memory = plan.sufficient}), .policy = policy};
    options.host_memory = planned_host_memory(portfolio(4), options);
    require_plain_bits(train_spilled(portfolio(4), options));
  }
}

TEST_CASE("models with adapters survive the death of a device at each operation", "[adapters]") {
  for (const std::size_t at : sampled(moments(0, 240, 12), 5)) {
    INFO("operation " << at);
    require_plain_bits(train_spilled(portfolio(3), {.devices = devices(2), .second_dies_at = at}));
  }
}

TEST_CASE("models with adapters are interrupted and resumed with other cuts and devices", "[adapters]") {
  auto c = portfolio(4)[3];
  c.steps = 6;
  run_options options{.devices = devices(2), .interrupt_at = 20};  // there is a checkpoint of a whole step by then
  options.checkpoint.every_steps = 1;
  std::size_t parts = 0;
  const auto spilled = train_in_parts({c}, options, [&](std::size_t n, auto& models, run_options& now) {
    models.front().cuts = n % 2 == 1 ? cut_points{0, 3} : cut_points{0, 2, 3, 4};
    now.devices = devices(1 + n % 2);
    parts = n;
  });
  CHECK(parts > 0);
  CHECK(difference(train_plain(c), spilled, 0) == "");
}

TEST_CASE("models with adapters join a run whose models have their base", "[adapters]") {
  const auto adds = [](const step_completed& e, control& c) {
    if (e.model == model_id{1} && e.done == 2) {
      c.add(describe(portfolio(4)[2], 2));
      c.add(describe(portfolio(4)[3], 3));
    }
  };
  run_options options{.devices = devices(2), .callbacks = {adds}};
  options.host_memory = planned_host_memory(portfolio(4), options) * 2;
  require_plain_bits(train_spilled(portfolio(2), options));
}

}  // namespace adapters_test
