#include "models/families/resnet/resnet.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace budgets_test {

std::vector<exact_case> two_models() {
  auto a = tiny_gpt(0.1, true);
  a.cuts = {0, 2, 4};
  a.micro_batches = 2;
  a.steps = 6;
  auto b = tiny_gpt(0.0, false);
  b.cuts = {0, 1, 2, 3, 4};
  b.optimizer.clip_norm = 0.5;
  b.steps = 6;
  return {a, b};
}

/// The number of bytes that a refusal names in "(N bytes)".
byte_count named_bytes(const std::string& text) {
  const auto at = text.find('(', text.find("smallest sufficient memory"));
  return byte_count{std::stoull(text.substr(at + 1))};
}

fault refusal(const run_options& options) {
  try {
    train_spilled(two_models(), options);
  } catch (const fault_error& e) {
    return e.what_happened();
  }
  return {};
}

TEST_CASE("the smallest sufficient device memory is enough to the byte, and its peak stays within", "[budgets]") {
  const auto why = refusal({.devices = {{.memory = 1_KiB}}});
  REQUIRE(why.code == fault_code::does_not_fit);
  const cpu_device least{.memory = named_bytes(why.text)};
  for (std::size_t devices = 1; devices <= 3; ++devices) {
    const auto spilled = train_spilled(two_models(), {.devices = std::vector<cpu_device>(devices, least)});
    REQUIRE(spilled.summary.all_finished());
    for (const auto& d : spilled.summary.devices) {
      REQUIRE(d.peak <= d.budget);
    }
    REQUIRE(spilled.summary.devices.front().peak > 0_B);  // the counter does count
  }
  const cpu_device less{.memory = least.memory - 1_B};
  REQUIRE(refusal({.devices = {less}}).code == fault_code::does_not_fit);
}

/// For both at the same time. With little memory, evaluations have shorter visits: less than a plan needs with more
/// memory may be enough.
byte_count least_host_memory(const std::vector<cpu_device>& devices) {
  auto needed = planned_host_memory(two_models(), {.devices = devices});
  for (;;) {
    const auto less = plan_of(two_models(), {.devices = devices, .host_memory = needed - 1_B});
    if (!less.waiting.empty()) {
      return needed;
    }
    needed = less.host_needed;
  }
}

TEST_CASE("the host memory that the plan asks for is enough to the byte, and its peak stays within", "[budgets]") {
  const std::vector<cpu_device> devices(2, {.memory = 1_MiB});
  const auto needed = least_host_memory(devices);
  for (int i = 0; i < 10; ++i) {
    const auto spilled = train_spilled(two_models(), {.devices = devices, .host_memory = needed});
    REQUIRE(spilled.summary.all_finished());
    REQUIRE(spilled.summary.host_peak <= needed);
    REQUIRE(difference(train_plain(two_models()[0]), spilled, 0) == "");  // evaluated in shorter visits, too
  }
  const auto alone = std::max(planned_host_memory({two_models()[0]}, {.devices = devices}),
                              planned_host_memory({two_models()[1]}, {.devices = devices}));
  for (const auto memory : {needed - 1_B, alone}) {  // one after the other
    const auto spilled = train_spilled(two_models(), {.devices = devices, .host_memory = memory});
    REQUIRE(spilled.summary.host_peak <= memory);
    REQUIRE(difference(train_plain(two_models()), spilled) == "");
  }
}

TEST_CASE("pieces side by side keep within the host memory that the plan asks for", "[budgets][pieces]") {
  auto gpt = tiny_gpt(0.1, true);
  gpt.chain = with_pieces(gpt2({.layers = 2, .width = 16, .heads = 4, .context = 6, .dropout = 0.1}), 4);
  gpt.batch_size = 8;
  gpt.micro_batches = 4;
  gpt.replicas = 2;
  const auto plain = train_plain(gpt);
  gpt.chain = with_pieces(gpt2({.layers = 2, .width = 16, .heads = 4, .context = 6, .dropout = 0.1}), 4, true);
  gpt.cuts.clear();
  const std::vector<cpu_device> devices(3, {.memory = 1_MiB});
  const auto needed = planned_host_memory({gpt}, {.devices = devices});
  for (int i = 0; i < 5; ++i) {
    const auto spilled = train_spilled({gpt}, {.devices = devices, .host_memory = needed});
    REQUIRE(spilled.summary.host_peak <= needed);
    REQUIRE(difference(plain, spilled, 0) == "");
  }
}

namespace {

/// A small configuration of each family. A new family: one more case.
exact_case random_case(std::mt19937& random, std::size_t i) {
  const auto between = [&](std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random);
  };
  auto c = tiny_gpt(0, false);  // its data are for language models
  c.cuts.clear();               // balanced
  c.micro_batches = random() % 2 == 0 ? 1 : 2;
  c.steps = 2;
  if (i % 4 == 0) {
    const auto heads = between(1, 3);
    c.chain = gpt2({.layers = between(1, 4), .width = heads * between(1, 10), .heads = heads, .context = 6,
                    .dropout = random() % 2 == 0 ? 0.0 : 0.1, .tied = random() % 2 == 0});
    const auto way = random() % 3;  // whole, in turn, side by side
    if (heads > 1 && way > 0) c.chain = with_pieces(c.chain, static_cast<std::uint32_t>(heads), way == 2);
    return c;
  }
  if (i % 4 == 1) {
    const auto micro_batches = c.micro_batches;
    c = tiny_cnn();
    c.micro_batches = micro_batches;
    c.cuts.clear();
    c.steps = 2;
    const auto dense = between(0, 2);
    c.chain = cnn({.stages = between(1, 3),
                   .blocks = between(1, 2),
                   .width = 2 * between(1, 3),
                   .groups = 2,
                   .dense_layers = dense,
                   .dense_width = between(2, 20)});
    const auto way = random() % 3;  // whole, in turn, side by side
    if (dense > 0 && way > 0) c.chain = with_pieces(c.chain, 2, way == 2);
    if (dense > 0 && c.micro_batches == 2) c.replicas = 2, c.until = "dense.0";
    return c;
  }
  if (i % 4 == 2) {
    c = tiny_cnn();
    c.cuts.clear();
    c.steps = 2;
    c.chain = resnet({.depths = {between(1, 2), 1},
                      .hidden_sizes = {4 * between(1, 3), 8},
                      .embedding_size = between(1, 6),
                      .layer_type = random() % 2 == 0 ? "basic" : "bottleneck"});
    return c;
  }
  c.batch_size = static_cast<std::uint32_t>(2 * between(1, 40));
  c.chain = mlp({.layers = between(1, 4), .width = between(1, 60)});
  c.data = open_data({synthetic_classes{.features = 8, .classes = 3, .samples = 200, .validation_samples = 0}}, 0);
  return c;
}

byte_count sufficient_for(const exact_case& c) {
  try {
    train_spilled({c}, {.devices = {{.memory = 512_B}}});
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::does_not_fit);
    return named_bytes(e.what_happened().text);
  }
  return {};
}

}  // namespace

TEST_CASE("random models train with exactly their smallest sufficient memory, and with 512 bytes less they are refused",
          "[budgets]") {
  std::mt19937 random(51);
  for (std::size_t i = 0; i < 12; ++i) {
    const auto c = random_case(random, i);
    const auto least = sufficient_for(c);
    const auto spilled = train_spilled({c}, {.devices = {{.memory = least}, {.memory = least}}});
    REQUIRE(difference(train_plain(c), spilled, 0) == "");
    REQUIRE(spilled.summary.devices.front().peak <= least);
    REQUIRE_THROWS_AS(train_spilled({c}, {.devices = {{.memory = least - 512_B}}}), fault_error);
  }
}

}  // namespace budgets_test
