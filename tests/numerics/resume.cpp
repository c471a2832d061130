#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "partition/plan/plan_file.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// One to three devices of other sizes, speeds and links each time.
std::vector<cpu_device> some_devices(std::mt19937& random) {
  std::vector<cpu_device> devices;
  for (auto n = 1 + random() % 3; n > 0; --n) {
    devices.push_back(random() % 2 == 0 ? tiny() : roomy());
    devices.back().speed = random() % 3 == 0 ? 0.5 : 1.0;
    if (random() % 2 == 0) {
      devices.back().link = 200_MiB_per_s;
    }
  }
  return devices;
}

struct long_way {
  spilled_result end;
  std::size_t interruptions = 0;
};

/// Interrupts the run before its backward computation `after`, resumes it elsewhere, interrupts it again, .. until
/// it is complete. `change` may change the models before each run.
template <class Change>
long_way train_with_interruptions(std::size_t after, std::uint32_t seed, run_options options, Change change) {
  std::mt19937 random(seed);
  long_way way;
  options.interrupt_at = after;
  way.end = train_in_parts(mixed_workload(), options, [&](std::size_t n, auto& models, run_options& now) {
    change(models, random);
    now.devices = some_devices(random);
    way.interruptions = n;
  });
  return way;
}

void keep_models(std::vector<exact_case>&, std::mt19937&) {}

}  // namespace

TEST_CASE("a run that is interrupted again and again and resumed elsewhere has plain training's bits", "[resume]") {
  for (const std::size_t after : {4, 11}) {
    INFO("interrupted before backward computation " << after);
    const auto way = train_with_interruptions(after, static_cast<std::uint32_t>(after), {}, keep_models);
    require_mixed_bits(way.end);
    CHECK(way.interruptions > 1);
  }
}

TEST_CASE("models that are cut elsewhere continue from the start of a step with plain training's bits", "[resume]") {
  const auto cut_anew = [](std::vector<exact_case>& models, std::mt19937& random) {
    for (auto& m : models) {
      m.cuts = random() % 3 == 0   ? cut_points{0, 1, 2, 3, 4}
               : random() % 2 == 0 ? cut_points{0, 3}
                                   : cut_points{0, 2, 4};
    }
  };
  run_options options{.after_step_of = {0, 1, 2}};
  options.checkpoint.every_steps = 1;
  const auto way = train_with_interruptions(20, 5, options, cut_anew);
  require_mixed_bits(way.end);
  CHECK(way.interruptions > 0);
}

TEST_CASE("a run with checkpoints after every step has plain training's bits", "[resume]") {
  const temporary_folder folder;
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  options.checkpoint.every_steps = 1;
  require_mixed_bits(train_spilled(mixed_workload(), options));
}

TEST_CASE("what has finished is not run again", "[resume]") {
  const temporary_folder folder;
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  require_mixed_bits(train_spilled(mixed_workload(), options));
  options.resume = true;
  const auto again = train_spilled(mixed_workload(), options);
  require_mixed_bits(again);
  for (const auto& d : again.summary.devices) {
    CHECK(d.h2d_bytes == byte_count{});
  }
}

TEST_CASE("a run that is complete and made longer has the bits of one that was as long from the beginning",
          "[resume]") {
  const temporary_folder folder;
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  auto shorter = mixed_workload();
  for (auto& m : shorter) {
    m.steps = 1;  // at its end it is evaluated, which the longer run is not until step 2
    m.optimizer.schedule.warmup = 1;
  }
  REQUIRE(train_spilled(shorter, options).summary.models[0].validation.size() == 1);
  auto longer = mixed_workload();
  for (auto& m : longer) {
    m.optimizer.schedule.warmup = 1;
  }
  options.resume = true;
  const auto resumed = train_spilled(longer, options);
  for (std::size_t i = 0; i < longer.size(); ++i) {
    INFO("model " << i);
    CHECK(resumed.summary.models[i].steps_before == 1);
    CHECK(difference(train_plain(longer[i]), resumed, i) == "");
  }
}

TEST_CASE("a model is made no longer where the rates of its steps depend on their number, nor shorter than it is",
          "[resume]") {
  const temporary_folder folder;
  const auto trained = [&](schedule_kind kind, std::uint32_t steps, bool resume) {
    auto model = mixed_workload()[0];
    model.steps = steps;
    model.optimizer.schedule.kind = kind;
    run_options options{
        .devices = {tiny()}, .output = folder.path() / std::to_string(static_cast<int>(kind)), .resume = resume};
    return train_spilled({model}, options).summary.models[0].status;
  };
  for (const auto kind : {schedule_kind::linear, schedule_kind::cosine}) {
    REQUIRE(trained(kind, 2, false) == model_status::finished);
    CHECK_THROWS_WITH(trained(kind, 3, true),
                      Catch::Contains("with 3 steps instead of 2") && Catch::Contains("schedule"));
    CHECK(trained(kind, 2, true) == model_status::finished);
  }
  REQUIRE(trained(schedule_kind::constant, 2, false) == model_status::finished);
  CHECK_THROWS_WITH(trained(schedule_kind::constant, 1, true), Catch::Contains("2 steps are done"));
}

TEST_CASE("a model that is not half done is refused half of its steps in words that hold of fewer, too", "[resume]") {
  const temporary_folder folder;
  auto model = mixed_workload()[0];
  model.steps = 100;
  model.optimizer.schedule.kind = schedule_kind::linear;
  run_options options{.devices = {tiny()}, .output = folder.path(), .interrupt_at = 0, .after_step_of = {0}};
  REQUIRE(train_spilled({model}, options).summary.interrupted);
  model.steps = 50;
  options.resume = true;
  options.interrupt_at.reset();
  options.after_step_of.clear();
  CHECK_THROWS_WITH(train_spilled({model}, options), Catch::Contains("with 50 steps instead of 100") &&
                                                         Catch::Contains("only under a constant schedule may it be"));
}

TEST_CASE("metrics of a run that was interrupted have every step and evaluation once, as the report has them",
          "[resume]") {
  const temporary_folder folder;
  run_options options{.devices = {tiny()}, .output = folder.path(), .interrupt_at = 12};
  options.checkpoint.every_steps = 2;
  while (train_spilled(mixed_workload(), options).summary.interrupted) {
    options.resume = true;
    options.interrupt_at = *options.interrupt_at + 4;
  }
  options.interrupt_at.reset();
  const auto whole = train_spilled(mixed_workload(), options).summary;
  std::map<std::string, std::vector<float>> losses;
  std::map<std::string, std::vector<double>> evaluations;
  std::ifstream in{folder.path() / "metrics.jsonl"};
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    if (j.contains("validation")) {
      evaluations[j["model"]].push_back(j["validation"].get<double>());
    } else {
      losses[j["model"]].push_back(j["loss"].get<float>());
      CHECK(j["step"] == losses[j["model"]].size());
    }
  }
  REQUIRE(options.resume);
  for (const auto& m : whole.models) {
    INFO(m.name);
    CHECK(losses[m.name] == m.loss);
    REQUIRE(evaluations[m.name].size() == m.validation.size());
    CHECK(evaluations[m.name].back() == m.validation.back().loss);
  }
}

TEST_CASE("the plan of a run can be read while it is under way") {
  const temporary_folder folder;
  std::size_t models = 0;
  const step_callback look = [&](const step_completed&, control&) {
    models = load_plan(folder.path() / "plan.json").models.size();
  };
  train_spilled(mixed_workload(), {.devices = {tiny()}, .callbacks = {look}, .output = folder.path()});
  CHECK(models == mixed_workload().size());
}

TEST_CASE("a model that a callback has stopped stays stopped, with its last evaluation", "[resume]") {
  const temporary_folder folder;
  const step_callback stop = [](const step_completed& e, control& c) {
    if (e.model == model_id{0} && e.done == 2) {
      c.stop(e.model);
    }
  };
  run_options options{.devices = {tiny(), tiny()}, .callbacks = {stop}, .output = folder.path()};
  const auto first = train_spilled(mixed_workload(), options).summary.models[0];
  CHECK(first.status == model_status::stopped);
  CHECK(first.validation.back().step == 2);
  options.resume = true;
  const auto again = train_spilled(mixed_workload(), options).summary.models[0];
  CHECK(again.status == model_status::stopped);
  CHECK(again.steps == 2);
  CHECK(again.loss == first.loss);
  CHECK(again.validation.size() == first.validation.size());
  CHECK(again.digest == first.digest);
}

TEST_CASE(
    "a model whose loss is not finite fails at the same step again when it is resumed; the others are not touched",
    "[resume]") {
  const temporary_folder folder;
  auto models = mixed_workload();
  models[1].optimizer.learning_rate = 1e30;
  run_options options{.devices = {tiny(), tiny()}, .output = folder.path()};
  options.checkpoint.every_steps = 1;
  const auto first = train_spilled(models, options).summary;
  REQUIRE(first.models[1].status == model_status::failed);
  CHECK(first.models[1].error.code == fault_code::not_finite);
  CHECK_THAT(first.models[1].error.text, Catch::Contains("the losses before it were finite: lower the learning rate"));
  CHECK(first.models[0].status == model_status::finished);
  options.resume = true;
  const auto again = train_spilled(models, options).summary;
  CHECK(again.models[1].error.text == first.models[1].error.text);
  CHECK(again.models[1].loss.size() == first.models[1].loss.size());
  CHECK(again.models[0].digest == first.models[0].digest);
}

TEST_CASE("a loss that is not finite before any update is not attributed to the learning rate") {
  const auto far = open_data({synthetic_classes{.samples = 64, .validation_samples = 0, .noise = 1e39}}, 0);
  const exact_case m{.chain = mlp({.width = 8}), .data = far, .optimizer = adamw({}), .cuts = {}, .evaluate_every = 0};
  const auto failed = train_spilled({m}, {}).summary.models[0];
  REQUIRE(failed.status == model_status::failed);
  CHECK_THAT(failed.error.text,
             Catch::Contains("before any update") && Catch::Contains("in the data, and in the weights"));
  CHECK_THAT(failed.error.text, !Catch::Contains("learning rate"));
}

TEST_CASE("a checkpoint from inside a step does not start again under cuts that it cannot have", "[resume]") {
  const temporary_folder folder;
  auto models = std::vector{mixed_workload()[1]};  // steps its shards one by one
  run_options options{.devices = {roomy()}, .output = folder.path(), .interrupt_at = 3};
  for (bool whole = true; whole; options.resume = true) {
    REQUIRE(train_spilled(models, options).summary.interrupted);
    const auto saved = list_checkpoints(folder.path() / "checkpoints" / "model-0");
    whole = read_checkpoint(saved.front()).any_cuts();
    for (const auto& older : saved) {
      if (!whole && older != saved.front()) {
        std::filesystem::remove_all(older);
      }
    }
    options.interrupt_at = *options.interrupt_at + 1;
  }
  models[0].cuts = {0, 2};
  options.resume = true;
  options.interrupt_at.reset();
  CHECK_THROWS_WITH(train_spilled(models, options),
                    Catch::Contains("cannot continue with these cuts") && Catch::Contains("0, 1, 2, 3, 4"));
}
