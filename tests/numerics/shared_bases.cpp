// Models over the same frozen parameters: one copy on the host and in each device's cache, and plain training's bits.

#include "models/families/gpt2/gpt2.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

/// Models that train parts of the blocks of one tiny GPT-2; they differ in their learning rates and steps.

namespace shared_bases_test {

std::vector<exact_case> portfolio(std::size_t n, const cut_points& cuts = {0, 2, 3, 4}) {
  std::vector<exact_case> all;
  for (std::size_t i = 0; i < n; ++i) {
    auto c = tiny_gpt(0.1, true);
    c.batch_size = c.micro_batches = 4;
    c.chain = with_frozen(std::move(c.chain), freezing{{"*", "!*.h.1.*bias", "!*.h.2.ln*"}});
    c.optimizer = adamw({.learning_rate = 1e-2 / static_cast<double>(i + 1)});
    c.steps = 2 + static_cast<std::uint32_t>(i % 2);
    c.cuts = cuts;
    all.push_back(c);
  }
  return all;
}

/// Of the first models of the portfolio.
void require_plain_bits(const spilled_result& spilled) {
  static const auto plain = train_plain(portfolio(4));
  REQUIRE(difference(std::span(plain).first(spilled.summary.models.size()), spilled) == "");
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

std::uint64_t loaded(const spilled_result& r) {
  std::uint64_t sum = 0;
  for (const auto& d : r.summary.devices) {
    sum += d.h2d_bytes.value();
  }
  return sum;
}

TEST_CASE("models over one base have plain training's bits, shared or not, in the host memory of the plan",
          "[shared]") {
  std::vector<byte_count> needed;
  std::vector<std::uint64_t> copied;
  for (const bool share : {true, false}) {
    run_options options{.devices = devices(1), .ablation = {.share = share}};
    options.host_memory = planned_host_memory(portfolio(4), options);
    needed.push_back(options.host_memory);
    const auto spilled = train_spilled(portfolio(4), options);
    require_plain_bits(spilled);
    CHECK(spilled.summary.host_peak <= options.host_memory);
    copied.push_back(loaded(spilled));
  }
  byte_count base;
  for (const auto& s : plan_of(portfolio(1), {}).models.front().shards) {
    base += host_charge(s.base);
  }
  CHECK(needed[1].value() - needed[0].value() == 3 * base.value());
  CHECK(copied[0] < copied[1]);
}

TEST_CASE("models over one base have plain training's bits under every policy, with just enough memory", "[shared]") {
  const auto enough = plan_of(portfolio(4), {.devices = devices(1)}).sufficient;
  for (const std::string& policy : sampled(names_of_policies(), 4)) {
    INFO(policy);
    run_options options{.devices = std::vector(2, cpu_device{.memory = enough}), .policy = policy};
    options.host_memory = planned_host_memory(portfolio(4), options);
    require_plain_bits(train_spilled(portfolio(4), options));
  }
}

TEST_CASE("models over one base are cut alike where their cuts are free, and share what they have in common elsewhere",
          "[shared]") {
  auto models = portfolio(2, {});
  models[1].batch_size = 32;
  models[1].micro_batches = 1;  // needs more memory for each layer
  const run_options options{.devices = {cpu_device{.memory = plan_of(models, {.devices = devices(1)}).sufficient}}};
  const auto alike = plan_of(models, options);
  CHECK(alike.models[0].cuts() == alike.models[1].cuts());
  CHECK(alike.bases.size() == alike.models[0].shards.size());
  models = portfolio(2);
  models[1].cuts = {0, 2};
  const auto partly = plan_of(models, options);
  CHECK(partly.models[1].shards[0].shared_base == base_place{model_id{0}, shard_index{0}});
  CHECK(partly.models[1].shards[1].shared_base == base_place{model_id{1}, shard_index{1}});
  CHECK(difference(train_plain(models[1]), train_spilled(models, {.devices = devices(2)}), 1) == "");
}

TEST_CASE("what differs in frozen values is not shared", "[shared]") {
  auto models = portfolio(2);
  models[1].seed = 2;
  const auto plan = plan_of(models, {});
  CHECK(plan.models[1].shards[0].shared_base == base_place{model_id{1}, shard_index{0}});
  models = portfolio(2);
  models[1].chain = with_frozen(tiny_gpt(0.1, true).chain, freezing{{"*", "!*.h.1.*"}});
  const auto partly = plan_of(models, {}).models[1];
  CHECK(partly.shards[0].shared_base ==
        base_place{model_id{0}, shard_index{0}});  // the same layers are frozen as a whole
  CHECK(partly.shards[2].shared_base == base_place{model_id{1}, shard_index{2}});
}

TEST_CASE("the same names in chains of other lengths are not shared: their initial values differ", "[shared]") {
  auto models = portfolio(2, {});
  for (std::size_t i = 0; i < 2; ++i) {
    models[i].chain = with_frozen(gpt2({.layers = i == 0 ? 3 : 4, .width = 16, .heads = 2, .context = 6}),
                                  freezing{{"*.h.0.*"}});
  }
  const run_options options{.devices = {cpu_device{.memory = plan_of(models, {.devices = devices(1)}).sufficient}}};
  const auto plan = plan_of(models, options);
  for (const auto& m : plan.models) {
    CHECK(m.shards.back().last_layer == (&m == &plan.models[0] ? 5 : 6));
  }
  const auto spilled = train_spilled(models, options);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(difference(train_plain(models[i]), spilled, i) == "");
  }
}

TEST_CASE("a base survives the death of a device at each operation", "[shared]") {
  for (const std::size_t at : sampled(moments(0, 240, 8), 6)) {
    INFO("operation " << at);
    require_plain_bits(train_spilled(portfolio(3), {.devices = devices(2), .second_dies_at = at}));
  }
}

TEST_CASE("models over one base are interrupted and resumed", "[shared]") {
  run_options options{.devices = devices(2), .interrupt_at = 60};
  options.checkpoint.every_steps = 1;
  require_plain_bits(train_in_parts(portfolio(4), options, [](std::size_t n, auto&, run_options& now) {
    now.devices = devices(1 + n % 2);
  }));
}

TEST_CASE("a base stays while a model reads it, whoever brought it: models that join find it", "[shared]") {
  for (const std::uint32_t at : {1u, 2u}) {
    INFO("added after step " << at);
    const auto adds = [at](const step_completed& e, control& c) {
      if (e.model == model_id{1} && e.done == at) {
        c.add(describe(portfolio(4)[2], 2));
        c.add(describe(portfolio(4)[3], 3));
      }
    };
    run_options options{.devices = devices(2), .callbacks = {adds}};
    options.host_memory = planned_host_memory(portfolio(4), options) * 2;  // joiners are charged for their bases
    require_plain_bits(train_spilled(portfolio(2), options));
  }
}

}  // namespace shared_bases_test
