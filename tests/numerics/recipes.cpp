// Schedules, groups of parameters and optimizers of recipes: bit for bit plain training, however a model is run.

#include "models/families/gpt2/gpt2.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

const std::vector<cut_points> some_cuts{{0}, {0, 2}, {0, 1, 2, 3, 4}};

/// Biases, one block and the embedding have learning rates or decays of their own; vectors of the rest do not decay.
update_options grouped(update_options rule) {
  rule.weight_decay = 0.1;
  rule.decay = decay_scope::matrices;
  rule.groups = {{.parameters = name_patterns{{"*.bias", "!*ln*"}}, .learning_rate = 3e-3, .weight_decay = 0.3},
                 {.parameters = name_patterns{{"*h.1.*"}}, .learning_rate = 2e-2},
                 {.parameters = name_patterns{{"*wte*"}}, .weight_decay = 0.5}};
  return rule;
}

std::vector<update_options> recipes() {
  auto adam = grouped(adamw({.learning_rate = 1e-2}));
  adam.schedule = {.kind = schedule_kind::wsd, .warmup_ratio = 0.3, .decay_ratio = 0.5};
  auto descent = grouped(sgd({.learning_rate = 0.05, .momentum = 0.9}));
  descent.schedule = {.kind = schedule_kind::cosine_restarts, .floor = 0.1, .cycles = 2};
  auto signs = grouped(lion({.learning_rate = 1e-3, .clip_norm = 0.05}));
  signs.schedule = {.kind = schedule_kind::inverse_sqrt, .warmup = 2};
  return {adam, descent, signs};
}

exact_case with(exact_case c, update_options recipe) {
  c.batch_size = c.micro_batches = 4;
  c.steps = 4;
  c.optimizer = std::move(recipe);
  return c;
}

}  // namespace

TEST_CASE("recipes on any cut have the bits of plain training", "[recipes]") {
  for (const auto& row : combinations({recipes().size(), 2, some_cuts.size()})) {
    auto c = with(tiny_gpt(0.1, row[1] == 1), recipes()[row[0]]);
    c.cuts = some_cuts[row[2]];
    INFO(fmt::format("{}, tied {}, {} shards", to_string(c.optimizer.kind), row[1], c.cuts.size()));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("recipes in replicas, waves, bf16 and stepped on devices have the bits of plain training", "[recipes]") {
  for (const auto& recipe : recipes()) {
    auto c = with(tiny_gpt(0.0, false), recipe);
    c.cuts = {0, 2, 4};
    INFO(to_string(recipe.kind));
    c.replicas = c.waves = 2;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
    c.replicas = c.waves = 1;
    const run_options there{.devices = devices(2), .optimizer_on = optimizer_place::device};
    CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
    c.numbers = c.gradients = precision::bf16;
    CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
  }
}

TEST_CASE("recipes of interrupted and resumed models have the bits of plain training", "[recipes]") {
  std::vector<exact_case> models;
  for (const auto& recipe : recipes()) {
    models.push_back(with(tiny_gpt(0.1, true), recipe));
    models.back().cuts = {0, 2, 4};
  }
  run_options options{.devices = devices(2), .interrupt_at = 36, .after_step_of = {0, 1, 2}};
  options.checkpoint.every_steps = 1;
  const auto resumed = train_in_parts(models, options, [](std::size_t n, auto& all, run_options&) {
    for (auto& m : all) m.cuts = n % 2 == 1 ? cut_points{0, 1, 3} : m.cuts;
  });
  CHECK(difference(train_plain(models), resumed) == "");
}

TEST_CASE("the parts of an adapter are stepped by the groups that name them", "[recipes][adapters]") {
  auto c = with(tiny_gpt(0.0, false), adamw({.learning_rate = 1e-2, .weight_decay = 0.1}));
  c.chain = with_adapter(std::move(c.chain), {.rank = 2, .targets = {"c_attn"}});
  c.cuts = {0, 2, 4};
  c.optimizer.groups = {{.parameters = name_patterns{{"*lora_B*"}}, .learning_rate = 1e-1, .weight_decay = 0}};
  const auto plain = train_plain(c);
  CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
  auto alike = c;
  alike.optimizer.groups = {};
  CHECK(train_plain(alike).digest != plain.digest);
}

/// Written out: what the parameters of a group would be if all had its rates, after one step.
TEST_CASE("a group changes its own parameters and no others", "[recipes]") {
  auto c = with(tiny_gpt(0.0, true), adamw({.learning_rate = 1e-2, .weight_decay = 0.1}));
  c.steps = 1;
  auto faster = c, grouped = c;
  faster.optimizer.learning_rate = 3e-2;
  grouped.optimizer.groups = {{.parameters = name_patterns{{"*wte*"}}, .learning_rate = 3e-2}};
  const auto plain = train_plain(c).parameters, fast = train_plain(faster).parameters;
  for (const auto& [name, values] : train_plain(grouped).parameters) {
    INFO(name);
    const bool in_group = name.find("wte") != std::string::npos || name.find("lm_head") != std::string::npos;
    CHECK(values == (in_group ? fast : plain).at(name));
  }
}

TEST_CASE("a group for parameters that the model does not train is refused with what it has", "[recipes]") {
  auto c = with(tiny_gpt(0.0, true), adamw({}));
  c.optimizer.groups = {{.parameters = name_patterns{{"*h.9.*"}}, .learning_rate = 3e-2}};
  CHECK_THROWS_WITH(plan_of({c}, {}),
                    Catch::Matchers::Contains("\"groups\" has \"*h.9.*\", which no trained parameter"));
}

namespace {

/// Some of its parameters are large enough for moments in 8 bits.
exact_case wider_gpt(bool tied) {
  auto c = with(tiny_gpt(0.0, tied), grouped(adamw8bit({.learning_rate = 1e-2})));
  c.chain = gpt2({.layers = 3, .width = 40, .heads = 2, .context = 6, .dropout = 0.1, .tied = tied});
  return c;
}

}  // namespace

TEST_CASE("moments in 8 bits have the bits of plain training, however a model is cut and run", "[recipes][8bit]") {
  for (const auto& row : combinations({2, 2, some_cuts.size()})) {
    auto c = wider_gpt(row[0] == 1);
    c.optimizer.clip_norm = row[1] == 0 ? 0 : 0.05;
    c.cuts = some_cuts[row[2]];
    INFO(fmt::format("tied {}, clip {}, {} shards", row[0], c.optimizer.clip_norm, c.cuts.size()));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
  auto c = wider_gpt(true);
  c.replicas = c.waves = 2;
  c.cuts = {0, 2, 4};
  CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
  c.replicas = c.waves = 1;
  c.numbers = c.gradients = precision::bf16;
  CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
}

TEST_CASE("models with moments in 8 bits are interrupted and resumed with other cuts", "[recipes][8bit]") {
  auto c = wider_gpt(true);
  c.cuts = {0, 2, 4};
  run_options options{.devices = devices(2), .interrupt_at = 12};
  options.checkpoint.every_steps = 1;
  const auto resumed = train_in_parts({c}, options, [](std::size_t n, auto& all, run_options&) {
    all[0].cuts = n % 2 == 1 ? cut_points{0, 1, 3} : cut_points{0, 2, 4};
  });
  CHECK(difference(train_plain(c), resumed, 0) == "");
}

TEST_CASE("moments in 8 bits take less than half of the host memory of those in fp32, and stay on the host",
          "[recipes][8bit]") {
  auto c = wider_gpt(false), wide = c;
  c.cuts = wide.cuts = {0, 2, 4};
  wide.optimizer.kind = update_kind::adamw;
  const run_options there{.devices = devices(2), .optimizer_on = optimizer_place::device};
  const auto narrow_plan = plan_of({c}, there).models.front(), wide_plan = plan_of({wide}, there).models.front();
  byte_count narrow_moments, wide_moments;
  for (std::size_t s = 0; s < narrow_plan.shards.size(); ++s) {
    narrow_moments += narrow_plan.shards[s].moment_bytes();
    wide_moments += wide_plan.shards[s].moment_bytes();
    CHECK_FALSE(narrow_plan.shards[s].steps_on_device);
    CHECK(wide_plan.shards[s].steps_on_device);
  }
  CAPTURE(narrow_moments.value(), wide_moments.value());
  CHECK(narrow_moments.value() * 2 < wide_moments.value());
  CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
}

namespace {

exact_case whole_gpt(update_options rule, bool tied) {
  rule = grouped(rule);
  rule.schedule = {.kind = schedule_kind::linear, .warmup = 2};
  auto c = with(tiny_gpt(0.0, tied), rule);
  c.chain = gpt2({.layers = 3, .width = 40, .heads = 2, .context = 6, .dropout = 0.1, .tied = tied});
  return c;
}

/// Rules that need all of a parameter.
std::vector<update_options> whole_rules() {
  return {muon({.learning_rate = 2e-2, .adamw_learning_rate = 5e-3}), adafactor({.learning_rate = 1e-2})};
}

}  // namespace

TEST_CASE("muon and adafactor have the bits of plain training, however a model is cut and run", "[recipes][whole]") {
  for (const auto& row : combinations({whole_rules().size(), 2, 2, some_cuts.size()})) {
    auto c = whole_gpt(whole_rules()[row[0]], row[1] == 1);
    c.optimizer.clip_norm = row[2] == 0 ? 0 : 0.05;
    c.cuts = some_cuts[row[3]];
    INFO(fmt::format("{}, tied {}, clip {}, {} shards", to_string(c.optimizer.kind), row[1], c.optimizer.clip_norm,
                     c.cuts.size()));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("muon and adafactor in replicas, waves and bf16 have the bits of plain training", "[recipes][whole]") {
  for (const auto& rule : whole_rules()) {
    auto c = whole_gpt(rule, true);
    INFO(to_string(rule.kind));
    c.replicas = c.waves = 2;
    c.cuts = {0, 2, 4};
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
    c.replicas = c.waves = 1;
    c.numbers = c.gradients = precision::bf16;
    const run_options there{.devices = devices(2), .optimizer_on = optimizer_place::device};
    CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
  }
}

TEST_CASE("models under muon and adafactor are interrupted and resumed with other cuts", "[recipes][whole]") {
  for (const auto& rule : whole_rules()) {
    auto c = whole_gpt(rule, true);
    c.cuts = {0, 2, 4};
    run_options options{.devices = devices(2), .interrupt_at = 12};
    options.checkpoint.every_steps = 1;
    const auto resumed = train_in_parts({c}, options, [](std::size_t n, auto& all, run_options&) {
      all[0].cuts = n % 2 == 1 ? cut_points{0, 1, 3} : cut_points{0, 2, 4};
    });
    INFO(to_string(rule.kind));
    CHECK(difference(train_plain(c), resumed, 0) == "");
  }
}

TEST_CASE("blocks have one moment for each parameter under muon, hardly any under adafactor; both stay on the host",
          "[recipes][whole]") {
  const run_options there{.devices = devices(2), .optimizer_on = optimizer_place::device};
  const auto planned = [&](const update_options& rule) {
    auto c = whole_gpt(rule, false);
    c.cuts = {0, 1, 2, 3, 4};
    return plan_of({c}, there).models.front();
  };
  const auto of_muon = planned(muon({})), of_adafactor = planned(adafactor({})), of_adamw = planned(adamw({}));
  for (const std::size_t block : {1, 2, 3}) {
    const auto two = of_adamw.shards[block].moment_bytes();
    CHECK(of_muon.shards[block].moment_bytes() * 10 < two * 6);
    CHECK(of_adafactor.shards[block].moment_bytes() * 10 < two);
    CHECK(of_muon.shards[block].update_time > of_muon.shards[0].update_time);
    for (const auto* plan : {&of_muon, &of_adafactor}) CHECK_FALSE(plan->shards[block].steps_on_device);
    CHECK(of_adamw.shards[block].steps_on_device);
  }
}
