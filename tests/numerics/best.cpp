#include "models/weights/digest.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_weights.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr std::uint32_t most_steps = 40;

/// Overfits its few samples: its validation loss soon rises.
exact_case overfitting() {
  auto m = tiny_gpt(0.0, true);
  m.data = open_data({synthetic_language{.symbols = 8, .order = 2, .tokens = 60, .validation_tokens = 100}}, 6);
  m.optimizer = adamw({.learning_rate = 2e-2});
  m.cuts = {0, 1, 2, 3, 4};
  m.steps = most_steps;
  m.evaluate_every = 2;
  m.keep_best = true;
  return m;
}

exact_case shortened(exact_case m, std::uint32_t steps) {
  m.steps = steps;
  return m;
}

std::uint32_t best_step_of(const model_report& m) {
  return std::ranges::min_element(m.validation, {}, &validation_report::loss)->step;
}

/// Of the parameters of a checkpoint, as reports have it.
std::string digest_of(const exact_case& m, const std::filesystem::path& checkpoint) {
  auto model = m.chain.build(*m.data);
  model.begin_with(checkpoint_weights(checkpoint));
  const parameter_layout layout(model, 0, model.size());
  std::vector<float> flat(layout.elements());
  layout.initialise(flat, model, 0);
  digest d;
  for (const auto& p : layout.parameters())
    if (p.tied_to.empty()) d.add(std::span<const float>(flat).subspan(p.offset, p.elements));
  return d.finish();
}

/// Another bit in the middle of its first shard.
void damage(const std::filesystem::path& checkpoint) {
  const auto file = checkpoint / "shard-0000.safetensors";
  auto bytes = text_of(file);
  bytes[bytes.size() / 2] ^= 1;
  overwrite(file, bytes);
}

/// Steps that have a line in metrics.jsonl, in its order.
std::vector<std::uint32_t> steps_in_metrics(const std::filesystem::path& run, const std::string& model) {
  std::vector<std::uint32_t> steps;
  std::ifstream in{run / "metrics.jsonl"};
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    if (j["model"] == model && j.contains("loss")) steps.push_back(j["step"].get<std::uint32_t>());
  }
  return steps;
}

/// Two models, the first of which keeps its best state, trained to their end.
struct trained_pair {
  temporary_folder folder{};
  std::vector<exact_case> models{shortened(overfitting(), 20), shortened(overfitting(), 8)};
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  report first;
  std::filesystem::path states = checkpoints_of(folder.path() / "checkpoints", "model-0");

  trained_pair() {
    models[1].keep_best = false;
    options.checkpoint = {.every_steps = 1, .every_minutes = 0, .keep = 30};
    first = train_spilled(models, options).summary;
    options.resume = true;
  }

  /// Both have the bits of plain training, and every step is in metrics.jsonl once.
  void require_same(const spilled_result& again) const {
    for (std::size_t i = 0; i < models.size(); ++i) CHECK(difference(train_plain(models[i]), again, i) == "");
    std::vector<std::uint32_t> all(models[0].steps);
    std::iota(all.begin(), all.end(), 1);
    CHECK(steps_in_metrics(folder.path(), "model-0") == all);
    CHECK(again.summary.models[1].steps_before == models[1].steps);
  }
};

std::string notes_of(const report& r) { return fmt::format("{}", fmt::join(r.notes, "\n")); }

run_options stopping_early(const std::filesystem::path& folder) {
  return {.devices = {tiny(), tiny()}, .evaluation_callbacks = {early_stop({.patience = 3})}, .output = folder};
}

}  // namespace

TEST_CASE(
    "a model that stops early has the bits of plain training for as many steps, its best state those of the best step",
    "[best]") {
  const temporary_folder folder;
  const auto model = overfitting();
  const auto spilled = train_spilled({model}, stopping_early(folder.path())).summary.models[0];
  REQUIRE(spilled.status == model_status::stopped);
  REQUIRE(spilled.steps < most_steps);
  CHECK(spilled.validation.back().step == spilled.steps);
  CHECK(best_step_of(spilled) + 3 * model.evaluate_every == spilled.steps);
  CHECK(spilled.digest == train_plain(shortened(model, spilled.steps)).digest);

  const auto best = best_checkpoint(checkpoints_of(folder.path() / "checkpoints", "model-0"));
  REQUIRE(best);
  CHECK(digest_of(model, *best) == train_plain(shortened(model, best_step_of(spilled))).digest);
}

TEST_CASE("a run that is interrupted and resumed stops as early, with the same best state", "[best]") {
  const temporary_folder whole_folder, folder;
  const auto model = overfitting();
  const auto whole = train_spilled({model}, stopping_early(whole_folder.path())).summary.models[0];
  auto options = stopping_early(folder.path());
  report summary;
  std::size_t interruptions = 0;
  for (std::size_t after = 6;; after = 6 + after * 7 % 5) {
    options.interrupt_at = after;
    summary = train_spilled({model}, options).summary;
    if (!summary.interrupted) break;
    options.resume = true;
    REQUIRE(++interruptions < 100);
  }
  CHECK(interruptions > 2);
  const auto& resumed = summary.models[0];
  CHECK(resumed.status == model_status::stopped);
  CHECK(resumed.steps == whole.steps);
  CHECK(resumed.digest == whole.digest);
  CHECK(resumed.loss == whole.loss);
  const auto best = best_checkpoint(checkpoints_of(folder.path() / "checkpoints", "model-0"));
  REQUIRE(best);
  CHECK(digest_of(model, *best) == train_plain(shortened(model, best_step_of(whole))).digest);
}

TEST_CASE("a model whose checkpoints are damaged goes back to its best state, with plain training's bits", "[best]") {
  const trained_pair run;
  for (const auto& checkpoint : list_checkpoints(run.states)) damage(checkpoint);
  const auto best = best_checkpoint(run.states)->filename().string();
  const auto again = train_spilled(run.models, run.options);
  CHECK_THAT(notes_of(again.summary), Catch::Contains("model 'model-0' goes back to step ") && Catch::Contains(best) &&
                                          Catch::Contains("shard-0000.safetensors has the SHA-256") &&
                                          !Catch::Contains("model-1"));
  CHECK(again.summary.models[0].steps_before == best_step_of(run.first.models[0]));
  run.require_same(again);
}

TEST_CASE("a model without a whole checkpoint is trained from the beginning, and the others go on", "[best]") {
  const trained_pair run;
  for (const auto& checkpoint : list_states(run.states)) damage(checkpoint);
  const auto again = train_spilled(run.models, run.options);
  CHECK_THAT(notes_of(again.summary), Catch::Contains("model 'model-0' goes back to the beginning: ") &&
                                          !Catch::Contains("has no checkpoint: it starts"));
  CHECK(again.summary.models[0].steps_before == 0);
  run.require_same(again);
  CHECK(best_checkpoint(run.states)->filename() ==
        fmt::format("best-step-{}", best_step_of(run.first.models[0])));
}

TEST_CASE("what an earlier start has set aside is told again until the model is as far", "[best]") {
  const trained_pair run;
  for (const auto& state : list_states(run.states)) std::filesystem::rename(state, state.string() + ".damaged");
  std::filesystem::create_directory(run.states / "a-person's.damaged-step-99");  // was not set aside by a start
  const auto again = train_spilled(run.models, run.options);
  CHECK_THAT(notes_of(again.summary),
             Catch::Contains("model 'model-0' goes back to the beginning: found damaged by an earlier start: ") &&
                 Catch::Contains("-step-20.damaged"));
  run.require_same(again);
  CHECK_THAT(notes_of(train_spilled(run.models, run.options).summary), !Catch::Contains("damaged"));
}

TEST_CASE("a run that was killed behind its best state is resumed from there, not from an older checkpoint", "[best]") {
  const trained_pair run;
  const auto best = best_step_of(run.first.models[0]);
  for (const auto& checkpoint : list_checkpoints(run.states)) {
    if (read_checkpoint(checkpoint).standing.next.step >= best) std::filesystem::remove_all(checkpoint);
  }
  REQUIRE_FALSE(list_checkpoints(run.states).empty());
  const auto again = train_spilled(run.models, run.options);
  CHECK(again.summary.models[0].steps_before == best);
  run.require_same(again);
}

TEST_CASE("a model that is only evaluated has the metrics that its training has ended with", "[best]") {
  const temporary_folder folder;
  const auto model = shortened(overfitting(), 6);
  const auto trained = train_spilled({model}, {.devices = {tiny()}, .output = folder.path()}).summary.models[0];
  const auto checkpoints = list_checkpoints(checkpoints_of(folder.path() / "checkpoints", "model-0"));
  auto again = describe(model, 0);
  again.evaluate_only = true;
  again.steps = 0;
  again.chain.build = [&](const data_source& data) {
    return model.chain.build(data).begin_with(checkpoint_weights(checkpoints.front()));
  };
  session s({.log = verbosity::quiet});
  s.add_devices(1, tiny());
  s.add_model(again);
  const auto evaluated = s.run().models[0];
  CHECK(evaluated.status == model_status::finished);
  CHECK(evaluated.steps == 0);
  CHECK(evaluated.digest == trained.digest);
  REQUIRE(evaluated.validation.size() == 1);
  CHECK(evaluated.validation[0].loss == trained.validation.back().loss);
  CHECK(evaluated.validation[0].accuracy == trained.validation.back().accuracy);
}

TEST_CASE("a model that is only evaluated needs validation data, and no steps", "[best]") {
  auto m = describe(overfitting(), 0);
  m.evaluate_only = true;
  session s({.log = verbosity::quiet});
  CHECK_THROWS_WITH(s.add_model(m), Catch::Contains("neither epochs nor steps"));
  m.steps = 0;
  m.data = {open_data({synthetic_language{.symbols = 8, .tokens = 60, .validation_tokens = 0}}, 6)};
  m.validate.reset();
  s.add_devices(1, tiny());
  s.add_model(m);
  CHECK_THROWS_WITH(s.plan(), Catch::Contains("no validation data"));
}
