// More models than host memory holds, and models that are paused while they are trained: the bits are those of plain
// training.

#include "tests/support/depth.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;

/// Different ones, of a few steps each.

namespace portfolio_test {

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

/// Losses, evaluations and final parameters of each model are those of a run in which it is alone, which are those of
/// plain training. Empty, or the first model for which they are not. (Where memory is scarce, parameters of models that
/// have ended are not kept: their digests are compared.)
std::string other_bits(const std::vector<exact_case>& models, const report& r) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto alone = train_spilled({models[i]}, {});
    if (const auto wrong = difference(train_plain(models[i]), alone, 0); !wrong.empty()) {
      return fmt::format("model {} alone: {}", i, wrong);
    }
    const auto& [is, shall] = std::tie(r.models[i], alone.summary.models[0]);
    const auto same_loss = [](const validation_report& a, const validation_report& b) {
      return a.step == b.step && a.loss == b.loss;
    };
    if (is.digest.empty() || is.digest != shall.digest || is.loss != shall.loss || is.grad_norm != shall.grad_norm ||
        !std::ranges::equal(is.validation, shall.validation, same_loss)) {
      return fmt::format("model {} differs: {} {}", i, to_string(is.status), is.digest);
    }
  }
  return {};
}

/// Parameters are not kept.
report train_in(session& s, const std::vector<exact_case>& models, const std::vector<cpu_device>& devices) {
  for (const auto& d : devices) s.add_devices(1, d);
  for (std::size_t i = 0; i < models.size(); ++i) s.add_model(describe(models[i], i));
  return s.run();
}

TEST_CASE("models that share the host memory of 8 have the bits that each has alone", "[portfolio]") {
  const auto models = many(is_deep() ? 64 : 24);
  run_options options{.devices = {{.memory = 400_KiB}, roomy()}};
  options.host_memory = planned_host_memory(many(8), options);
  const auto plan = plan_of(models, options);
  CHECK(plan.waiting.size() + 16 > models.size());
  CHECK(plan.host_needed <= options.host_memory);
  session s{{.host_memory = options.host_memory, .log = verbosity::quiet}};
  const auto result = train_in(s, models, options.devices);
  CHECK(result.all_finished());
  CHECK(result.host_peak <= options.host_memory);
  CHECK(other_bits(models, result) == "");
}

TEST_CASE("a model that never fits is refused before anything is trained, with its name and its bytes", "[portfolio]") {
  auto models = many(3);
  models[1].chain = gpt2({.layers = 64, .width = 16, .heads = 2, .context = 6});
  run_options options{.devices = {roomy()}};
  options.host_memory = planned_host_memory({models[0], models[2]}, options);
  CHECK_THROWS_WITH(plan_of(models, options),
                    Contains("model 'model-1' alone needs at least") && Contains("bytes) of host memory"));
}

TEST_CASE("a portfolio that is interrupted continues with those that had waited", "[portfolio]") {
  const temporary_folder folder;
  const auto models = many(12);
  const run_options options{.devices = {roomy()}};
  session_options part{
      .host_memory = planned_host_memory(many(3), options), .output = folder.path() / "run", .log = verbosity::quiet};
  report last;
  int parts = 0;
  do {
    session s{part};
    s.on<step_completed>([&, steps = 0](const step_completed&, control&) mutable {
      if (++steps == 5) s.interrupt();
    });
    last = train_in(s, models, options.devices);
    part.resume = true;
  } while (last.interrupted && ++parts < 20);
  CHECK(parts >= 3);
  CHECK(other_bits(models, last) == "");
}

TEST_CASE("models that are paused and resumed while they are trained have the bits of undisturbed ones",
          "[portfolio]") {
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

}  // namespace portfolio_test
