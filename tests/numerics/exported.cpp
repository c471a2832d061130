// Exported models through the whole system: bits that cross boundaries, several inputs, a parameter in three places.

#include "models/families/exported_folder.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/exported_folder.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

exact_case exported(const exported_folder& folder) {
  exact_case c;
  c.chain = describe_exported(folder.path(), {});
  c.data = open_data({folder.data(), true}, c.chain.wants());
  c.batch_size = 8;
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

const std::vector<cut_points> one_to_four_shards{{0}, {0, 1}, {0, 2}, {0, 1, 3}, {0, 1, 2, 3}};

}  // namespace

TEST_CASE("a spilled exported model equals plain training bit for bit wherever it is cut", "[exactness][exported]") {
  const exported_folder folder;
  auto c = exported(folder);
  for (const auto& row : combinations({2, 2, one_to_four_shards.size()})) {
    c.micro_batches = row[0] == 0 ? 1 : 4;
    c.optimizer.clip_norm = row[1] == 0 ? 0 : 0.25;
    c.cuts = one_to_four_shards[row[2]];
    const auto plain = train_plain(c);
    CHECK(plain.losses.front() != plain.losses.back());
    INFO(c.cuts.size() << " shards, K = " << c.micro_batches << ", clip " << c.optimizer.clip_norm);
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("exported models on devices with little memory, of which one dies, equal plain training",
          "[exactness][exported]") {
  const exported_folder folder;
  auto a = exported(folder), b = exported(folder);
  a.cuts = {0, 1, 2, 3};
  b.cuts = {0, 2};
  b.seed = 2;
  b.micro_batches = 2;
  b.replicas = 2;
  const cpu_device small{.memory = 400_KiB};
  const auto plain = train_plain(std::vector{a, b});
  const auto spilled =
      train_spilled({a, b}, {.devices = {small, small, small}, .second_dies_at = GENERATE(5u, 17u, 40u)});
  REQUIRE(difference(plain, spilled) == "");
}

TEST_CASE("an exported model that is interrupted again and again has plain training's bits", "[resume][exported]") {
  const exported_folder folder;
  const temporary_folder run;
  auto c = exported(folder);
  c.cuts = {0, 1, 2, 3};
  c.steps = 5;
  const auto plain = train_plain(c);
  run_options options{.output = run.path() / "run", .interrupt_at = 2};
  options.checkpoint.every_steps = GENERATE(0u, 1u);
  const cpu_device small{.memory = 400_KiB};
  const auto spilled = train_in_parts({c}, options, [&](std::size_t n, std::vector<exact_case>&, run_options& part) {
    part.devices = n % 2 == 0 ? std::vector{small} : std::vector{small, small};
    part.interrupt_at = 2 + 2 * n;
  });
  REQUIRE(difference(plain, spilled, 0) == "");
}

TEST_CASE("an adapter of an exported model equals plain training", "[exactness][exported]") {
  const exported_folder folder;
  auto c = exported(folder);
  c.chain = with_adapter(c.chain, {.rank = 2, .dropout = 0.5, .targets = {"mix"}});
  const auto plain = train_plain(c);
  CHECK(plain.parameters.contains("mix.lora_A.weight"));
  for (const cut_points& cuts : one_to_four_shards) {
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}
