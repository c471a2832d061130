#include "partition/inference/decoder.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/hanging_device.hpp"
#include "tests/support/other_device.hpp"
#include "tests/support/outfitted_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

using model_ptr = std::shared_ptr<const chain>;

std::vector<decode_cost> costs_on_host(const chain& model, const decode_lengths& lengths) {
  install_accounting_allocator();
  const auto meter = make_host_meter();
  return decode_costs(model, lengths, {*meter});
}

model_ptr built(const chain_description& d) {
  return std::make_shared<const chain>(d.build(
      *open_data({synthetic_language{.symbols = 50, .order = 1, .tokens = 2000, .validation_tokens = 0}}, d.context)));
}

model_ptr small_llama() {
  return built(llama({.layers = 4,
                      .width = 32,
                      .heads = 4,
                      .kv_heads = 2,
                      .hidden = 64,
                      .context = 160,
                      .tied = true,
                      .qk_norm = true}));
}

/// The window is shorter than the prompt.
model_ptr small_gemma() {
  return built(gemma({.layers = 4,
                      .width = 32,
                      .heads = 4,
                      .kv_heads = 2,
                      .hidden = 64,
                      .context = 160,
                      .window = 20,
                      .full_layers = {1},
                      .score_cap = 2,
                      .logit_cap = 5}));
}

model_ptr small_gpt2() { return built(gpt2({.layers = 3, .width = 32, .heads = 4, .context = 160, .dropout = 0.1})); }

/// A prompt of 70 tokens and 70 more, one by one: beyond the initial capacity of attention.
constexpr decode_lengths lengths{.prompt = 70, .longest = 140};

std::vector<std::int64_t> text() {
  const at::Tensor ids = random_ids({lengths.longest}, 50, 5);
  return {ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel()};
}

/// Logits behind every token from the prompt's last one on, by forward() of the whole text.
std::vector<std::vector<float>> by_forward(const chain& model, std::uint64_t seed) {
  const parameter_layout layout{model, 0, model.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), model, seed);
  at::Tensor x = random_ids({lengths.longest}, 50, 5).unsqueeze(0);
  for (std::size_t i = 0; i < model.size(); ++i) {
    x = model.at(i).body->forward(layout.views(flat, i), x, {.training = false});
  }
  std::vector<std::vector<float>> all;
  for (std::int64_t t = lengths.prompt - 1; t < lengths.longest; ++t) all.push_back(copy_of(x[0][t].contiguous()));
  return all;
}

std::vector<std::vector<float>> by_decoding(decoder& writer) {
  const auto ids = text();
  std::vector<std::vector<float>> all{writer.next(std::span{ids}.first(lengths.prompt))};
  for (std::size_t t = lengths.prompt; t < ids.size(); ++t) all.push_back(writer.next({&ids[t], 1}));
  return all;
}

/// Relative to the largest logit.
double distance(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  double worst = 0, largest = 0;
  for (std::size_t t = 0; t < b.size(); ++t) {
    for (std::size_t i = 0; i < b[t].size(); ++i) {
      worst = std::max(worst, std::abs(double{a[t][i]} - double{b[t][i]}));
      largest = std::max(largest, std::abs(double{b[t][i]}));
    }
  }
  return worst / largest;
}

/// Texts on a device with that memory, and its measured peak.
struct decoded {
  std::vector<std::vector<float>> logits;
  decode_plan plan;
  byte_count peak;
};

decoded decode_within(const model_ptr& model, byte_count memory, int times = 1) {
  const auto device = make_cpu_device("cpu:0", {.memory = memory});
  const std::shared_ptr arena = make_host_arena(64_MiB);
  decoded result;
  decoder writer{model, {.lengths = lengths, .seed = 7}, *device, arena};
  for (int i = 0; i < times; ++i) {
    writer.restart();
    result.logits = by_decoding(writer);
  }
  result.plan = writer.plan();
  result.peak = device->memory().peak;
  return result;
}

/// The least bytes under which there is a plan.
byte_count least(std::span<const decode_cost> costs) {
  byte_count fits = 64_MiB, not_enough{};
  while (fits - not_enough > 512_B) {
    const byte_count middle{(fits.value() + not_enough.value()) / 2};
    try {
      plan_decoding(costs, middle);
      fits = middle;
    } catch (const fault_error&) {
      not_enough = middle;
    }
  }
  return fits;
}

}  // namespace

TEST_CASE("a decoder that keeps the whole model has the logits of the whole text's forward") {
  for (const auto& model : {small_llama(), small_gemma(), small_gpt2()}) {
    const auto result = decode_within(model, 64_MiB);
    CHECK(std::ranges::count(result.plan.resident, false) == 0);
    CHECK(result.plan.memory_resident);
    CHECK(distance(result.logits, by_forward(*model, 7)) < 1e-5);
  }
}

TEST_CASE("under every budget a decoder gives the same bits and never exceeds what it planned") {
  for (const auto& model : {small_llama(), small_gemma(), small_gpt2()}) {
    const auto whole = decode_within(model, 64_MiB);
    const byte_count most = whole.plan.needed, fewest = least(costs_on_host(*model, lengths));
    bool single = false, parked = false, streamed = false;
    for (std::uint64_t part = 0; part <= 8; ++part) {
      const byte_count budget{fewest.value() + (most - fewest).value() * part / 8};
      const auto result = decode_within(model, budget, 2);
      INFO(to_string(budget) << " of " << to_string(most));
      CHECK(result.logits == whole.logits);
      CHECK(result.plan.needed <= budget);
      CHECK(result.peak <= result.plan.needed);
      single = single || result.plan.buffers == 1;
      parked = parked || !result.plan.memory_resident;
      streamed = streamed || (result.plan.buffers == 2 && std::ranges::count(result.plan.resident, false) > 0);
    }
    CHECK(single);
    CHECK(parked);
    CHECK(streamed);
  }
}

TEST_CASE("a budget that holds no layer is refused with a sufficient one, before a byte is allocated") {
  const auto model = small_llama();
  const auto device = make_cpu_device("cpu:0", {.memory = 16_KiB});
  const std::shared_ptr arena = make_host_arena(64_MiB);
  CHECK_THROWS_WITH((decoder{model, {.lengths = lengths}, *device, arena}),
                    Contains("one layer at a time") && Contains("16.0 KiB"));
  CHECK(device->memory().peak == byte_count{});
  CHECK(arena->budget().peak() == byte_count{});
}

TEST_CASE("the largest layers stay as long as there is memory, after what layers remember") {
  const byte_count k = 1_KiB;
  std::vector<decode_cost> costs(4, {.parameters = k * 10, .memory = k, .working = k});
  costs[2].parameters = k * 20;
  const auto all = plan_decoding(costs, k * 100);
  CHECK(all.needed == k * (50 + 4 + 1));
  const auto some = plan_decoding(costs, k * 45);
  CHECK(some.resident == std::vector<bool>{false, false, true, false});
  CHECK(some.needed == k * (20 + 20 + 4 + 1));
  CHECK(plan_decoding(costs, k * 35).resident == std::vector<bool>(4, false));
  CHECK_FALSE(plan_decoding(costs, k * 33).memory_resident);
  CHECK(plan_decoding(costs, k * 30).buffers == 1);
  CHECK_THROWS_AS(plan_decoding(costs, k * 21), fault_error);
}

TEST_CASE("texts longer than planned, unknown ids and chains that write no text are refused") {
  const auto model = small_gpt2();
  const auto device = make_cpu_device("cpu:0", {.memory = 64_MiB});
  const std::shared_ptr arena = make_host_arena(64_MiB);
  decoder writer{model, {.lengths = {.prompt = 2, .longest = 3}}, *device, arena};
  const std::vector<std::int64_t> four{1, 2, 3, 4}, unknown{50}, negative{-1};
  CHECK_THROWS_WITH(writer.next(four), Contains("3 tokens was planned"));
  CHECK_THROWS_WITH(writer.next(unknown), Contains("token id 50") && Contains("vocabulary of 50"));
  CHECK_THROWS_WITH(writer.next(negative), Contains("token id -1"));
  CHECK_THROWS_WITH(writer.next({}), Contains("no token"));
  CHECK_THROWS_WITH(costs_on_host(*model, {.prompt = 1, .longest = 161}), Contains("its context is 160"));
  const chain classifier = mlp({.width = 4}).build(*open_data({synthetic_classes{}}, 0));
  CHECK_THROWS_WITH(costs_on_host(classifier, lengths), Contains("writes text"));
}

TEST_CASE("parameters that stay on the device leave the host") {
  const auto model = built(llama({.layers = 12, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 64, .context = 160}));
  const auto device = make_cpu_device("cpu:0", {.memory = 64_MiB});
  const std::shared_ptr arena = make_host_arena(64_MiB);
  const decoder writer{model, {.lengths = lengths}, *device, arena};
  byte_count largest{};
  for (std::size_t i = 0; i < model->size(); ++i) {
    largest = std::max(largest, arena->charged(parameter_layout{*model, i, i + 1}.bytes()));
  }
  REQUIRE(std::ranges::count(writer.plan().resident, false) == 0);
  CHECK(arena->budget().peak() <= largest * 2);
}

TEST_CASE("a decoder computes and remembers where the device's tensors are, whatever it streams") {
  for (const auto& model : {small_llama(), small_gemma(), small_gpt2()}) {
    const auto expected = decode_within(model, 64_MiB).logits;
    const auto meter = make_host_meter();
    const auto costs = decode_costs(*model, lengths, {*meter, other_device});
    for (const byte_count memory : {byte_count{64_MiB}, least(costs)}) {
      outfitted_device there(make_cpu_device("cpu:0", {.memory = memory}), {.torch_device = other_device});
      const std::shared_ptr arena = make_host_arena(64_MiB);
      const no_waiting strict;
      decoder writer{model, {.lengths = lengths, .seed = 7}, there, arena};
      CHECK(distance(by_decoding(writer), expected) < 1e-4);
    }
  }
}

TEST_CASE("when a decoder gives up, its arena lives as long as the operations that use it") {
  const auto model = small_gpt2();
  const auto where = std::make_shared<hanging_point>();
  hanging_device stuck(make_cpu_device("cpu:0", {.memory = least(costs_on_host(*model, lengths))}), 1, where);
  const opens_at_exit release{where->go_on};
  std::shared_ptr arena = make_host_arena(64_MiB);
  const std::weak_ptr seen = arena;
  {
    decoder writer{
        model, {.lengths = lengths, .stall_limit = std::chrono::seconds{1}}, stuck, std::exchange(arena, nullptr)};
    REQUIRE_FALSE(writer.plan().memory_resident);
    CHECK_THROWS_WITH(writer.next(text()), Contains("has completed nothing"));
  }
  CHECK_FALSE(seen.expired());  // layers' memory is still to be copied there, behind what hangs
  where->go_on.open();
  REQUIRE(stuck.stop(std::chrono::seconds{10}));
  CHECK(seen.expired());
}

TEST_CASE("a device that hangs is not awaited beyond the limit") {
  const auto where = std::make_shared<hanging_point>();
  hanging_device stuck(make_cpu_device("cpu:0", {.memory = 64_MiB}), 3, where);
  const opens_at_exit release{where->go_on};
  const decoder_options options{.lengths = {.prompt = 2, .longest = 4}, .stall_limit = std::chrono::seconds{1}};
  decoder writer{small_gpt2(), options, stuck, make_host_arena(64_MiB)};
  CHECK_THROWS_WITH(writer.next(std::vector<std::int64_t>{1, 2}), Contains("cpu:0 has completed nothing for 1.000 s"));
}
