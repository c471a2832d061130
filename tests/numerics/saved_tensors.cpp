// What forward visits leave on a device for their backward visits changes no bit, whether there is room for all of it,
// for some of it, or none.

#include "models/families/llama/llama.hpp"
#include "tests/support/spilled_run.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace saved_tensors_test {

struct named_case {
  std::string name;
  exact_case model;
};

exact_case adapted() {
  auto c = tiny_gpt(0.1, true);
  c.chain = with_adapter(std::move(c.chain), {.rank = 2, .dropout = 0.2});
  return c;
}

exact_case frozen_below() {
  auto c = tiny_gpt(0.1, false);
  c.chain = with_adapter(std::move(c.chain), {.rank = 2, .targets = {"h.1.mlp.c_fc"}});
  return c;
}

exact_case rounded(exact_case c) {
  c.numbers = precision::bf16;
  return c;
}

exact_case divided(exact_case c, std::uint32_t replicas, std::uint32_t waves) {
  c.replicas = replicas;
  c.waves = waves;
  return c;
}

exact_case clipped(exact_case c) {
  c.optimizer.clip_norm = 0.25;
  return c;
}

exact_case tiny_llama() {
  auto c = tiny_gpt(0.0, false);
  c.chain = llama({.layers = 3, .width = 16, .heads = 2, .kv_heads = 1, .hidden = 24, .context = 6});
  return c;
}

std::vector<named_case> cases() {
  std::vector<named_case> all{{"tied weights and dropout", clipped(tiny_gpt(0.1, true))},
                              {"llama", tiny_llama()},
                              {"convolutions", tiny_cnn()},
                              {"adapters", adapted()},
                              {"frozen first layers", frozen_below()},
                              {"bf16", rounded(tiny_gpt(0.1, false))},
                              {"replicas", divided(tiny_gpt(0.1, true), 2, 1)},
                              {"waves", divided(tiny_gpt(0.1, true), 1, 2)}};
  for (auto& c : all) {
    c.model.micro_batches = 4;
    c.model.batch_size = 8;
    c.model.cuts = c.name == "convolutions" ? cut_points{0, 1, 2, 3, 4, 5} : cut_points{0, 1, 2, 3};
  }
  return all;
}

std::uint64_t sum(const spilled_result& r, std::uint64_t device_report::*count) {
  return std::accumulate(r.summary.devices.begin(), r.summary.devices.end(), std::uint64_t{0},
                         [count](std::uint64_t n, const device_report& d) { return n + d.*count; });
}

/// Between the smallest sufficient memory and one with room for everything.
std::vector<byte_count> sizes(const exact_case& c) {
  const auto plan = plan_of({c}, {});
  const auto least = plan.staging_bytes + plan.computing_bytes;
  byte_count all;
  for (const auto& s : plan.models.front().shards) {
    all += s.saved * c.micro_batches;
  }
  return {least, least + byte_count{all.value() / 3}, least + byte_count{all.value() * 2 / 3}};
}

TEST_CASE("with room for all that forward visits save nothing is computed again, and no bit changes", "[saved]") {
  for (const auto& [name, c] : cases()) {
    INFO(name);
    const auto plain = train_plain(c);
    const auto saved = train_spilled({c}, {});
    CHECK(difference(plain, saved, 0) == "");
    CHECK(sum(saved, &device_report::saved) > 0);
    CHECK(sum(saved, &device_report::recomputed) == 0);
    const auto without = train_spilled({c}, {.ablation = {.save = false}});
    CHECK(difference(plain, without, 0) == "");
    CHECK(sum(without, &device_report::saved) == 0);
    CHECK(sum(without, &device_report::recomputed) > 0);
  }
}

TEST_CASE("with room for a part of it the rest is computed again, within the budget", "[saved]") {
  for (const auto& [name, c] : cases()) {
    const auto plain = train_plain(c);
    for (const auto memory : sizes(c)) {
      INFO(fmt::format("{} in {} bytes", name, memory.value()));
      const auto r = train_spilled({c}, {.devices = {cpu_device{.memory = memory}}});
      CHECK(difference(plain, r, 0) == "");
      CHECK(r.summary.devices.front().peak <= memory);
    }
  }
}

TEST_CASE("a model that loses the device with its saved tensors computes them again", "[saved]") {
  auto c = tiny_gpt(0.1, true);
  c.micro_batches = 2;
  c.cuts = {0, 1, 2, 3};
  const auto plain = train_plain(c);
  for (std::size_t at = 5; at < 120; at += 9) {
    INFO("operation " << at);
    const auto r = train_spilled(
        {c, c}, {.devices = {cpu_device{.memory = 8_MiB}, cpu_device{.memory = 8_MiB}}, .second_dies_at = at});
    REQUIRE(difference(plain, r, 0) == "");
    REQUIRE(difference(plain, r, 1) == "");
  }
}

}  // namespace saved_tensors_test
