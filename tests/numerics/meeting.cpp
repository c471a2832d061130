// Replicas that meet: bit for bit a plain training in which the layers from there on have one gradient sum.

#include "models/families/cnn/cnn.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watched_device.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace meeting_test {

/// Stem, two blocks, the mean over the pixels, two dense layers, the last one: seven layers. In two pieces the dense
/// ones are three each.
chain_description network() {
  return cnn({.stages = 2, .blocks = 1, .width = 4, .dense_layers = 2, .dense_width = 12});
}

exact_case meeting(std::uint32_t replicas, chain_description chain = network(), std::string until = "dense.0") {
  auto c = tiny_cnn();
  c.chain = std::move(chain);
  c.micro_batches = 4;
  c.replicas = replicas;
  c.until = std::move(until);
  c.cuts.clear();
  return c;
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

TEST_CASE("replicas that meet at any layer, on any devices, have the bits of plain training", "[meeting]") {
  const std::vector<std::string> layers{"stages.0.0", "dense.0", "head"};
  const std::vector<cut_points> cuts{{}, {0, 1, 2, 4, 5, 6}};
  for (const auto& row : combinations({2, 3, 2, 3, 2})) {
    auto c = meeting(2U << row[0], network(), layers[row[1]]);
    c.cuts = cuts[row[2]];
    c.optimizer.clip_norm = row[4] == 0 ? 0 : 0.05;
    INFO(fmt::format("{} replicas until {}, {} shards, {} devices, clip {}", c.replicas, c.until, c.cuts.size(),
                     row[3] + 1, c.optimizer.clip_norm));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(row[3] + 1)}), 0) == "");
  }
}

TEST_CASE("where replicas meet decides bits", "[meeting]") {
  const auto digest = [](const std::string& until) { return train_plain(meeting(2, network(), until)).digest; };
  CHECK(digest("dense.0") != digest("head"));
  CHECK(digest("dense.0") != digest(""));
}

TEST_CASE("dense layers in pieces behind replicas have the bits of plain training, in turn and side by side",
          "[meeting]") {
  for (const auto numbers : {precision::fp32, precision::bf16}) {
    auto c = meeting(2, with_pieces(network(), 2));
    c.numbers = numbers;
    const auto plain = train_plain(c);
    for (const std::size_t n : {1, 3}) CHECK(difference(plain, train_spilled({c}, {.devices = devices(n)}), 0) == "");
    c.cuts = {0, 1, 4, 5, 6, 7, 9, 10};
    CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
    c = meeting(2, with_pieces(network(), 2, true));
    c.numbers = numbers;
    for (const std::size_t n : {1, 3}) CHECK(difference(plain, train_spilled({c}, {.devices = devices(n)}), 0) == "");
  }
}

TEST_CASE("a tied copy behind the place where replicas meet has one sum, and its owner one for each", "[meeting]") {
  for (const auto gradients : {precision::fp32, precision::bf16}) {
    auto c = tiny_gpt(0.1, true);
    c.batch_size = 8;
    c.micro_batches = 4;
    c.replicas = 4;
    c.until = "h.1";
    c.cuts = {0, 1, 2, 4};
    c.numbers = gradients;
    c.gradients = gradients;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("a device that dies changes no bit of replicas that meet", "[meeting][loss]") {
  for (const bool beside : {false, true}) {
    const auto c = meeting(4, with_pieces(network(), 2, beside));
    const auto plain = train_plain(c);
    for (const std::size_t operation : sampled(moments(5, 200, 9), 8)) {
      INFO(fmt::format("side by side {}, the second device dies at operation {}", beside, operation));
      REQUIRE(difference(plain, train_spilled({c}, {.devices = devices(3), .second_dies_at = operation}), 0) == "");
    }
  }
}

TEST_CASE("replicas that meet beside another model have the bits of plain training under every policy", "[meeting]") {
  const std::vector models{tiny_gpt(0.1, true), meeting(2, with_pieces(network(), 2, true))};
  const auto plain = train_plain(models);
  for (const std::string& policy : names_of_policies()) {
    INFO(policy);
    REQUIRE(difference(plain, train_spilled(models, {.devices = devices(3), .policy = policy})) == "");
  }
}

TEST_CASE("a run with replicas that meet is interrupted again and again, and resumed to the same bits", "[meeting]") {
  for (const bool beside : {false, true}) {
    const temporary_folder folder;
    const auto c = meeting(2, with_pieces(network(), 2, beside));
    std::size_t parts = 0;
    const auto end = train_in_parts({c}, {.devices = devices(2), .output = folder.path(), .interrupt_at = 4},
                                    [&](std::size_t, std::vector<exact_case>&, run_options&) { ++parts; });
    CHECK(difference(train_plain(c), end, 0) == "");
    CHECK(parts > 1);
  }
}

TEST_CASE("the host memory that is planned for replicas that meet is enough to the byte", "[meeting][budgets]") {
  for (const bool beside : {false, true}) {
    const auto c = meeting(4, with_pieces(network(), 2, beside));
    const auto plain = train_plain(c);
    const auto needed = planned_host_memory({c}, {.devices = devices(3)});
    for (int i = 0; i < 5; ++i) {
      const auto spilled = train_spilled({c}, {.devices = devices(3), .host_memory = needed});
      REQUIRE(spilled.summary.host_peak <= needed);
      REQUIRE(difference(plain, spilled, 0) == "");
    }
  }
}

TEST_CASE("layers behind the place where replicas meet have one gradient sum on the host", "[meeting]") {
  auto apart = meeting(4);
  apart.until.clear();
  const auto plan = plan_of({meeting(4)}, {}), all = plan_of({apart}, {});
  REQUIRE(plan.models[0].meets == 1);
  byte_count gradients;
  for (std::size_t s = 1; s < plan.models[0].shards.size(); ++s) gradients += plan.models[0].shards[s].gradient_bytes();
  CHECK(plan.host_needed + gradients * 3 <= all.host_needed);
}

/// Bytes of a step that devices copy to the host, by kind, direction and shard: "gradients backward 4".
std::map<std::string, std::size_t> copied_in_step(const exact_case& c) {
  const temporary_folder folder;
  std::mutex mutex;
  std::map<std::string, std::size_t> all;
  const auto count = [&](const operation& op) {
    const auto& text = op.label.detail;
    const auto name = text.find(" of model-0 "), step = text.find(" step ");
    if (op.label.name != std::string_view("demote_shard")) return;
    const std::lock_guard lock{mutex};
    all[text.substr(0, name) + text.substr(name + 11, step - name - 11)] += op.bytes.value();
  };
  run_options o{.devices = devices(4), .output = folder.path()};
  o.around = [&](std::unique_ptr<device> d) -> std::unique_ptr<device> {
    return std::make_unique<watched_device>(std::move(d), count);
  };
  REQUIRE(difference(train_plain(c), train_spilled({c}, o), 0) == "");
  for (auto& [name, bytes] : all) bytes /= c.steps;
  return all;
}

/// The lecture's table, for a dense layer of 8 inputs and 12 outputs in batches of 8 samples: by samples nothing
/// crosses between its copies but the gradients of all of them; by outputs a piece leaves its part of what is computed,
/// backwards a term of the input's gradient, and no gradient of a parameter is there twice.
constexpr std::size_t number = sizeof(float);

TEST_CASE("what crosses of a dense layer is what the lecture's table says", "[meeting]") {
  constexpr std::size_t batch = 8, in = 8, out = 128, parameters = (in * out + out) * number;
  const auto wide = cnn({.stages = 2, .blocks = 1, .width = 4, .dense_layers = 2, .dense_width = 128});
  auto samples = meeting(4, wide);
  samples.until.clear();
  samples.cuts = {0, 4, 5, 6};
  const auto apart = copied_in_step(samples);
  CHECK(apart.at("activation forward 1") == batch * out * number);
  CHECK(apart.at("upstream backward 1") == batch * in * number);
  CHECK(apart.at("gradients backward 1") == 4 * parameters);
  const auto met = copied_in_step(meeting(4, with_pieces(wide, 2, true)));
  for (const std::string piece : {"1", "2"}) {
    CHECK(met.at("activation forward " + piece) == batch * out / 2 * number);
    CHECK(met.at("term of upstream backward " + piece) == batch * in * number);
    CHECK(met.at("gradients backward " + piece) == parameters / 2);
  }
}

/// An MLP of a transformer block is divided by its hidden features, which both its maps have: forwards and backwards a
/// piece leaves a term of all outputs (of all inputs).
TEST_CASE("what crosses of an MLP in pieces is what the lecture's table says of outputs that are added", "[pieces]") {
  auto c = tiny_gpt(0.0, true);
  c.chain = with_pieces(gpt2({.layers = 1, .width = 16, .heads = 2, .context = 6, .tied = false}), 2, true);
  c.cuts.clear();
  const auto bytes = copied_in_step(c);
  constexpr std::size_t tokens = 4 * 6, width = 16;
  for (const std::string piece : {"6", "7"}) {  // behind two of the embedding, a norm, two of the attention, a norm
    CHECK(bytes.at("activation forward " + piece) == tokens * width * number);
  }
}

TEST_CASE("replicas whose number is chosen meet, too", "[meeting]") {
  for (const std::uint32_t replicas : {0, 1, 2}) {  // of 0 the simulated run decides
    const auto m = plan_of({meeting(replicas)}, {.devices = devices(2)}).models[0];
    INFO(replicas << " are " << m.replicas);
    CHECK((m.shape().meets > 0) == (m.replicas > 1));
    CHECK(std::ranges::count(m.cuts(), 4U) == 1);  // the first dense layer begins a shard
  }
}

TEST_CASE("a layer at which replicas cannot meet is refused with those at which they can", "[meeting]") {
  const auto refusal = [](const std::string& until, const chain_description& chain = network()) {
    try {
      plan_of({meeting(2, chain, until)}, {});
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
    return std::string("accepted");
  };
  CHECK_THAT(refusal("fc"), Contains("parallel.replicas_until") && Contains("the name \"fc\"") &&
                                Contains("stages.0.0, stages.1.0, pool, dense.0, dense.1, head"));
  CHECK_THAT(refusal("stem"), Contains("no layer behind the first one has the name \"stem\""));
  CHECK_THAT(refusal("dense.1", with_pieces(network(), 2, true)), Contains("pieces side by side"));
  CHECK(refusal("dense.1", with_pieces(network(), 2)) == "accepted");
  auto waves = meeting(2);
  waves.waves = 2;
  CHECK_THROWS_WITH(plan_of({waves}, {}), Contains("leave out \"waves\""));
  auto cut = meeting(2);
  cut.cuts = {0, 3};
  CHECK_THROWS_WITH(plan_of({cut}, {}), Contains("a shard has to begin with layer 4, because replicas meet there"));
}

}  // namespace meeting_test
