// More models than host memory holds, and models that are paused while they are trained: the bits are those of plain training.

#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;

namespace {

/// Different ones, of a few steps each.
std::vector<exact_case> many(std::uint32_t count) {
  std::vector<exact_case> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back(i % 3 == 2 ? tiny_cnn() : tiny_gpt(i % 3 == 1 ? 0.1 : 0.0, i % 2 == 0));
    all.back().seed = i + 1;
    all.back().steps = 1 + i % 3;
    all.back().micro_batches = i % 2 == 0 ? 1 : 2;
    all.back().cuts = {};
  }
  return all;
}

}  // namespace

TEST_CASE("64 models that share the host memory of 8 have the bits that each has alone", "[portfolio]") {
  const auto models = many(64);
  run_options options{.devices = {tiny(), roomy()}};
  options.host_memory = planned_host_memory(many(8), options);
  const auto plan = plan_of(models, options);
  CHECK(plan.waiting.size() > 48);
  CHECK(plan.host_needed <= options.host_memory);
  const auto result = train_spilled(models, options);
  CHECK(result.summary.all_finished());
  CHECK(result.summary.host_peak <= options.host_memory);
  CHECK(difference(train_plain(models), result) == "");
}

TEST_CASE("a model that never fits is refused before anything is trained, with its name and its bytes", "[portfolio]") {
  auto models = many(3);
  models[1].batch_size = models[1].micro_batches = 256;
  run_options options{.devices = {roomy()}};
  options.host_memory = planned_host_memory({models[0], models[2]}, options);
  CHECK_THROWS_WITH(plan_of(models, options), Contains("model 'model-1' alone: the run needs") && Contains("bytes) of host memory"));
}

TEST_CASE("a portfolio that is interrupted continues with those that had waited", "[portfolio]") {
  const temporary_folder folder;
  const auto models = many(12);
  run_options options{.devices = {roomy()}, .output = folder.path() / "run"};
  options.host_memory = planned_host_memory(many(3), options);
  options.checkpoint.every_steps = 1;
  options.interrupt_at = 60;
  const auto result = train_in_parts(models, options, [](std::size_t, auto&, auto&) {});
  CHECK(difference(train_plain(models), result) == "");
}

TEST_CASE("models that are paused and resumed while they are trained have the bits of undisturbed ones", "[portfolio]") {
  auto models = mixed_workload();
  for (auto& m : models) {
    m.steps += 6;
  }
  const auto plain = train_plain(models);
  for (int round = 0; round < 6; ++round) {
    const temporary_folder folder;
    const run_options options{.devices = {tiny(), roomy()}, .output = folder.path() / "run"};
    int paused = 0;
    const auto result = train_spilled(models, options, [&](session& s) {
      for (int i = 0; i < 4; ++i) {
        const auto name = fmt::format("model-{}", (round + i) % models.size());
        try {
          s.pause(name);
          ++paused;
          s.resume(name);
        } catch (const fault_error& e) {
          CHECK_THAT(e.what(), Contains("ended") || Contains("finished") || Contains("under way"));
        }
      }
    });
    INFO(paused << " pauses");
    REQUIRE(result.summary.all_finished());
    REQUIRE(difference(plain, result) == "");
  }
}
