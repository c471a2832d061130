// Frozen parameters in bf16 and in 4 bits: bit for bit a plain training with the values that they have then.

#include "models/families/llama/llama.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace base_formats_test {

constexpr base_format formats[]{base_format::bf16, base_format::nf4};

exact_case in_format(exact_case c, base_format format) {
  c.batch_size = c.micro_batches = 4;
  c.chain = with_base(std::move(c.chain), format);
  return c;
}

exact_case adapted(exact_case c, lora_options adapter, base_format format) {
  c.chain = with_adapter(std::move(c.chain), std::move(adapter));
  return in_format(std::move(c), format);
}

exact_case frozen(std::vector<std::string> which, base_format format) {
  auto c = tiny_gpt(0.1, true);
  c.chain = with_frozen(std::move(c.chain), freezing{std::move(which)});
  return in_format(std::move(c), format);
}

exact_case tiny_llama() {
  auto c = tiny_gpt(0.0, false);
  c.chain = llama({.layers = 3, .width = 16, .heads = 2, .kv_heads = 1, .hidden = 24, .context = 6});
  return c;
}

/// All linear maps; the upper block only; a llama with its head; all but a part of a layer; only the lowest layers are
/// frozen.
std::vector<exact_case> choices(base_format format) {
  return {adapted(tiny_gpt(0.1, true), {.rank = 2, .dropout = 0.2}, format),
          adapted(tiny_gpt(0.0, true), {.rank = 4, .targets = {"h.2.mlp.c_fc"}}, format),
          adapted(tiny_llama(), {.rank = 1, .targets = {"q_proj", "down_proj", "lm_head"}}, format),
          frozen({"*", "!*.h.1.*bias", "!*.h.2.ln*"}, format), frozen({"*wte*", "*.h.0.*", "*.h.1.*"}, format)};
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

/// Of one base.
std::vector<exact_case> portfolio(std::size_t n, base_format format) {
  std::vector<exact_case> all;
  for (std::size_t i = 0; i < n; ++i) {
    auto c = adapted(tiny_gpt(0.1, true), {.rank = static_cast<std::int64_t>(i) + 1}, format);
    c.optimizer = adamw({.learning_rate = 1e-2 / static_cast<double>(i + 1)});
    c.steps = 2 + static_cast<std::uint32_t>(i % 2);
    c.cuts = {0, 2, 3, 4};
    all.push_back(c);
  }
  return all;
}

TEST_CASE("a base in bf16 and in 4 bits, on any cut, has the bits of plain training", "[base-format]") {
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3, 4}};
  for (const auto& row : combinations({std::size(formats), choices(formats[0]).size(), cuts.size()})) {
    const auto format = formats[row[0]];
    auto c = choices(format)[row[1]];
    c.cuts = cuts[row[2]];
    INFO(fmt::format("{}, choice {}, {} shards", to_string(format), row[1], c.cuts.size()));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("replicas, waves, steps on devices, bf16 and chunks of the loss change nothing about that", "[base-format]") {
  for (const auto format : formats) {
    for (auto c : choices(format)) {
      c.cuts = {0, 2, 3, 4};
      c.waves = c.replicas = 2;
      CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
      c.waves = c.replicas = 1;
      CHECK(difference(train_plain(c),
                       train_spilled({c}, {.devices = devices(2), .optimizer_on = optimizer_place::device}), 0) == "");
      auto rounded = c;
      rounded.numbers = rounded.gradients = precision::bf16;
      CHECK(difference(train_plain(rounded), train_spilled({rounded}, {.devices = devices(2)}), 0) == "");
      c.chain = with_loss_chunk(std::move(c.chain), 5);
      CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
    }
  }
}

TEST_CASE("models share a base in 4 bits in the least memory, under every policy", "[base-format]") {
  const auto models = portfolio(3, base_format::nf4);
  const auto plain = train_plain(models);
  const auto plan = plan_of(models, {.devices = devices(1)});
  CHECK(plan.models[2].shards[1].shared_base == base_place{model_id{0}, shard_index{1}});
  for (const std::string& policy : sampled(names_of_policies(), 4)) {
    INFO(policy);
    run_options options{.devices = std::vector(2, cpu_device{.memory = plan.sufficient}), .policy = policy};
    options.host_memory = planned_host_memory(models, options);
    REQUIRE(difference(plain, train_spilled(models, options)) == "");
  }
}

TEST_CASE("the same base in two formats is two bases", "[base-format]") {
  auto models = portfolio(1, base_format::nf4);
  models.push_back(portfolio(1, base_format::bf16).front());
  const auto plan = plan_of(models, {.devices = devices(1)});
  CHECK(plan.models[1].shards[1].shared_base == base_place{model_id{1}, shard_index{1}});
}

TEST_CASE("a model with a narrow base is interrupted and resumed with other cuts and devices", "[base-format]") {
  for (const auto format : formats) {
    auto c = portfolio(2, format)[1];
    c.steps = 6;
    run_options options{.devices = devices(2), .interrupt_at = 20};
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
}

TEST_CASE("models with a narrow base survive the death of a device", "[base-format]") {
  const auto models = portfolio(2, base_format::nf4);
  const auto plain = train_plain(models);
  for (const std::size_t at : sampled(moments(0, 160, 20), 4)) {
    INFO("operation " << at);
    REQUIRE(difference(plain, train_spilled(models, {.devices = devices(2), .second_dies_at = at})) == "");
  }
}

}  // namespace base_formats_test
