// Frozen parameters: bit for bit a plain training whose frozen leaves have no gradient.

#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace frozen_test {

using patterns = std::vector<std::string>;

exact_case frozen(exact_case c, const patterns& which) {
  c.batch_size = c.micro_batches = 8;
  c.chain = with_frozen(std::move(c.chain), freezing{which});
  return c;
}

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

/// The lower layers; all but the head's norm; parts of each layer; a layer between trained ones.
const std::vector<patterns>& choices() {
  static const std::vector<patterns> all{{"*.wte*", "*.wpe*", "*.h.0.*", "*.h.1.*"},
                                         {"*", "!*.ln_f.*"},
                                         {"*.weight", "!*ln*"},
                                         {"*.h.1.*"}};
  return all;
}

TEST_CASE("frozen parameters on any cut, with and without clipping, have the bits of plain training", "[frozen]") {
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3, 4}};
  for (const auto& row : combinations({choices().size(), 2, 2, cuts.size(), 2})) {
    const auto& which = choices()[row[0]];
    auto c = frozen(tiny_gpt(0.1, row[2] == 1), which);
    c.optimizer.clip_norm = row[1] == 0 ? 0 : 0.05;
    c.cuts = cuts[row[3]];
    const std::size_t n = row[4] + 1;
    INFO(fmt::format("{}, clip {}, tied {}, {} shards, {} devices", which, c.optimizer.clip_norm, row[2], c.cuts.size(),
                     n));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(n)}), 0) == "");
  }
}

TEST_CASE("replicas and waves of a partly frozen model have the bits of plain training", "[frozen]") {
  for (const auto& row : combinations({choices().size(), 2, 3})) {
    auto c = frozen(tiny_gpt(0.0, true), choices()[row[0]]);
    c.replicas = 1U << row[1];
    c.waves = 1U << row[2];
    c.cuts = {0, 2, 3, 4};
    INFO(fmt::format("{}, {} replicas, {} waves", choices()[row[0]], c.replicas, c.waves));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
  }
}

TEST_CASE("partly frozen models in bf16 have the bits of plain training", "[frozen]") {
  const std::vector<cut_points> cuts{{0, 2, 4}, {0, 1, 3}};
  for (const auto& row : combinations({choices().size(), 2, cuts.size()})) {
    auto c = frozen(tiny_gpt(0.0, true), choices()[row[0]]);
    c.numbers = precision::bf16;
    c.gradients = row[1] == 0 ? precision::fp32 : precision::bf16;
    c.optimizer.clip_norm = 0.05;
    c.cuts = cuts[row[2]];
    INFO(fmt::format("{}, gradients in {}", choices()[row[0]], to_string(c.gradients)));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("partly frozen models that devices step have the bits of plain training", "[frozen]") {
  for (const auto& which : choices()) {
    auto c = frozen(tiny_gpt(0.0, false), which);
    c.cuts = {0, 1, 3};
    INFO(fmt::format("{}", which));
    REQUIRE(difference(train_plain(c),
                       train_spilled({c}, {.devices = devices(2), .optimizer_on = optimizer_place::device}), 0) == "");
  }
}

namespace {

std::vector<exact_case> workload() {
  auto a = frozen(tiny_gpt(0.1, true), choices()[0]);
  a.optimizer.clip_norm = 0.05;
  a.cuts = {0, 1, 2, 3, 4};
  auto b = tiny_gpt(0.0, false);
  b.cuts = {0, 3};
  auto c = frozen(tiny_gpt(0.0, false), choices()[2]);
  c.cuts = {0, 2};
  c.waves = 2;
  auto d = a;  // in waves below which shards have no backward visits
  d.waves = 4;
  return {a, b, c, d};
}

void require_plain_bits(const spilled_result& spilled) {
  static const auto plain = train_plain(workload());
  REQUIRE(difference(plain, spilled) == "");
}

}  // namespace

TEST_CASE("partly frozen models beside others have the bits of plain training under every policy", "[frozen]") {
  for (const std::string& policy : sampled(names_of_policies(), 4)) {
    INFO(policy);
    require_plain_bits(train_spilled(workload(), {.devices = devices(2), .policy = policy}));
  }
}

TEST_CASE("partly frozen models with just enough memory have the bits of plain training", "[frozen][budgets]") {
  const auto enough = plan_of(workload(), {.devices = devices(1)}).sufficient;
  for (const std::size_t n : {1, 2}) {
    const run_options options{.devices = std::vector(n, cpu_device{.memory = enough})};
    auto limited = options;
    limited.host_memory = planned_host_memory(workload(), options);
    require_plain_bits(train_spilled(workload(), limited));
  }
}

TEST_CASE("partly frozen models survive the death of a device at each operation", "[frozen]") {
  for (const std::size_t at : sampled(moments(0, 320, 8), 8)) {
    INFO("operation " << at);
    require_plain_bits(train_spilled(workload(), {.devices = devices(2), .second_dies_at = at}));
  }
}

TEST_CASE("partly frozen models are interrupted and resumed with other cuts and devices", "[frozen]") {
  for (const std::size_t at : {40, 57}) {
    for (const bool other_cuts : {true, false}) {
      INFO("interrupted before backward computation " << at << (other_cuts ? ", other cuts" : ""));
      run_options options{.devices = devices(2), .interrupt_at = at, .after_step_of = {0}};
      options.checkpoint.every_steps = 1;
      require_plain_bits(train_in_parts(workload(), options, [&](std::size_t n, auto& models, run_options& now) {
        models[0].cuts = other_cuts && n % 2 == 1 ? cut_points{0, 3} : models[0].cuts;
        now.devices = devices(1 + n % 2);
      }));
    }
  }
}

TEST_CASE("a frozen model takes no host memory for gradients and moments, and copies no gradients", "[frozen]") {
  auto whole = tiny_gpt(0.0, false);
  whole.cuts = {0, 2, 4};
  auto part = frozen(tiny_gpt(0.0, false), {"*", "!*.ln_f.*"});
  part.batch_size = whole.batch_size;
  part.micro_batches = whole.micro_batches;
  part.cuts = whole.cuts;
  const auto plan = plan_of({part}, {}).models.front();
  const auto all = plan_of({whole}, {}).models.front();
  CHECK(plan.first_trained == 2);
  for (std::size_t s = 0; s < plan.shards.size(); ++s) {
    CHECK(plan.shards[s].base + plan.shards[s].parameters == all.shards[s].parameters);
    CHECK(plan.shards[s].moment_bytes().value() == 2 * plan.shards[s].parameters.value());
  }
  CHECK(plan.shards[0].parameters == 0_B);
  const auto copied_back = [](const exact_case& c) {
    return train_spilled({c}, {}).summary.devices.front().d2h_bytes;
  };
  CHECK(copied_back(part) < copied_back(whole));
}

}  // namespace frozen_test
