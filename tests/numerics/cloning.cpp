// Models that begin from a checkpoint of another one: the bits are those of plain training that has changed its rate,
// schedule, batch or number of steps there.

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

/// "model-7", which begins from there.
model_description clone_of(const exact_case& m, const fs::path& begins, std::size_t number = 7) {
  auto d = describe(m, number);
  d.begins = begins;
  return d;
}

std::vector<exact_case> longer(std::vector<exact_case> models, std::uint32_t steps) {
  for (auto& m : models) {
    m.steps = steps;
  }
  return models;
}

/// Its learning rate falls in the last half; before, it is that of a constant schedule.
exact_case falling(exact_case m) {
  m.optimizer.schedule = {.kind = schedule_kind::wsd, .decay_ratio = 0.5};
  return m;
}

/// Losses, evaluations and digests of the models of the report, in their order, are those of plain training; of clones,
/// which have evaluations of their own only, the last evaluations.
std::string other_bits(const std::vector<exact_case>& all, const report& r, const std::set<std::size_t>& clones) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto plain = train_plain(all[i]);
    const auto& is = r.models.at(i);
    const auto same = [](const reference_evaluation& a, const validation_report& b) {
      return a.steps == b.step && a.loss == b.loss;
    };
    const auto shared = clones.contains(i) ? plain.evaluations.size() - is.validation.size() : 0;
    if (plain.digest != is.digest || plain.losses != is.loss || plain.grad_norms != is.grad_norm ||
        is.validation.empty() ||
        !std::ranges::equal(std::span(plain.evaluations).subspan(shared), is.validation, same)) {
      return fmt::format("{}: {} {}", is.name, to_string(is.status), is.error.text);
    }
  }
  return {};
}

/// The report of a run of this model alone, on one device.
report train_alone(const model_description& d) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.add_model(d);
  return s.run();
}

/// Trains the model in a folder; the checkpoint that it leaves after its last step.
fs::path trained(const exact_case& m, const fs::path& folder) {
  session s{{.output = folder, .log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.add_model(describe(m, 0));
  s.run();
  return list_checkpoints(checkpoints_of(folder / "checkpoints", "model-0")).front();
}

std::string refusal(const model_description& d) {
  try {
    train_alone(d);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("models that are cloned while they are trained have the bits of plain training, and so have their clones",
          "[cloning]") {
  const auto models = longer(mixed_workload(), 12);
  for (const unsigned seed : sampled(std::vector{1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}, 2)) {
    std::mt19937 random(seed);
    const temporary_folder folder;
    const auto source = random() % models.size();
    const auto moment = 1 + random() % 5;  // steps of all models; falling() has plain training's rate up to the sixth
    session s{{.output = folder.path() / "run", .log = verbosity::quiet}};
    s.add_devices(1, tiny());
    s.add_devices(1, roomy());
    for (std::size_t i = 0; i < models.size(); ++i) {
      s.add_model(describe(models[i], i));
    }
    std::size_t steps = 0;
    std::size_t of_source = 0;
    s.on<step_completed>([&, cloned = false](const step_completed& e, control& c) mutable {
      of_source += e.model.value == source ? 1 : 0;
      if (++steps >= moment && of_source > 0 && !std::exchange(cloned, true)) {
        const auto kept = s.keep(fmt::format("model-{}", source));
        c.add(clone_of(models[source], kept, 3));
        c.add(clone_of(falling(models[source]), kept, 4));
        c.add(clone_of(longer({models[source]}, 15).front(), kept, 5));
      }
    });
    const auto result = s.run();
    auto all = models;
    all.push_back(models[source]);
    all.push_back(falling(models[source]));
    all.push_back(longer({models[source]}, 15).front());
    INFO("model-" << source << " after " << moment << " steps");
    REQUIRE(other_bits(all, result, {3, 4, 5}) == "");
  }
}

TEST_CASE("a clone with another rate, batch and clipping has the same bits on other devices and cuts", "[cloning]") {
  const temporary_folder folder;
  auto source = tiny_gpt(0.1, true);
  const auto kept = trained(source, folder.path() / "source");
  auto changed = source;
  changed.steps = 7;
  changed.batch_size = 6;
  changed.micro_batches = 3;
  changed.optimizer = adamw({.learning_rate = 3e-3, .weight_decay = 0.1, .clip_norm = 0.5});
  changed.cuts = {};
  const auto alone = train_alone(clone_of(changed, kept));
  CHECK(alone.models[0].steps == 7);
  CHECK(alone.models[0].steps_before == 3);
  CHECK(alone.models[0].loss.size() == 7);
  CHECK(alone.models[0].grad_norm.size() == 7);
  changed.cuts = {0, 2, 4};
  session s{{.log = verbosity::quiet}};
  s.add_devices(2, cpu_device{.memory = 600_KiB});
  s.add_model(describe(tiny_cnn(), 0));
  s.add_model(clone_of(changed, kept, 1));
  const auto beside = s.run();
  CHECK(beside.models[1].digest == alone.models[0].digest);
  CHECK(beside.models[1].loss == alone.models[0].loss);
}

TEST_CASE("a clone of a model that has ended continues it with more steps", "[cloning]") {
  const temporary_folder folder;
  const auto source = tiny_cnn();
  const auto kept = trained(source, folder.path() / "source");
  const auto more = longer({source}, 8).front();
  const auto result = train_alone(clone_of(more, kept, 0));
  CHECK(result.models[0].digest == train_plain(more).digest);
}

TEST_CASE("a run with clones that is interrupted again and again ends with the bits of plain training", "[cloning]") {
  const temporary_folder folder;
  const auto source = longer({tiny_gpt(0.1, false)}, 5).front();
  const auto kept = trained(source, folder.path() / "source");
  const std::vector all{longer({source}, 12).front(), tiny_cnn(), falling(longer({source}, 12).front())};
  session_options options{.output = folder.path() / "run", .log = verbosity::quiet};
  report last;
  int parts = 0;
  do {
    session s{options};
    s.add_devices(2, roomy());
    s.add_model(clone_of(all[0], kept, 0));
    s.add_model(describe(all[1], 1));
    s.add_model(clone_of(all[2], kept, 2));
    s.on<step_completed>([&, steps = 0](const step_completed&, control&) mutable {
      if (++steps == 4) {
        s.interrupt();
      }
    });
    last = s.run();
    options.resume = true;
  } while (last.interrupted && ++parts < 20);
  CHECK(parts >= 3);
  CHECK(other_bits(all, last, {0, 2}) == "");
}

TEST_CASE("metrics of a clone begin with those that it shares", "[cloning]") {
  const temporary_folder folder;
  const auto source = tiny_gpt(0.0, true);
  const auto kept = trained(source, folder.path() / "source");
  session s{{.output = folder.path() / "run", .log = verbosity::quiet}};
  s.add_devices(1, roomy());
  s.add_model(clone_of(longer({source}, 6).front(), kept));
  s.run();
  std::ifstream lines(folder.path() / "run" / "metrics.jsonl");
  int steps = 0;
  for (std::string line; std::getline(lines, line);) {
    steps += line.find("\"loss\"") != std::string::npos ? 1 : 0;
  }
  CHECK(steps == 6);
}

TEST_CASE("what cannot begin from a checkpoint is refused before anything is trained", "[cloning]") {
  const temporary_folder folder;
  const auto source = tiny_gpt(0.0, true);
  const auto kept = trained(source, folder.path() / "source");
  const auto more = longer({source}, 9).front();
  auto wrong = more;
  SECTION("another model") {
    wrong.chain = gpt2({.layers = 2, .width = 16, .heads = 2, .context = 6});
    CHECK_THAT(refusal(clone_of(wrong, kept)),
               Contains("model 'model-7' cannot begin from") && Contains("names and shapes"));
  }
  SECTION("another optimizer") {
    wrong.optimizer = sgd({.learning_rate = 0.1, .momentum = 0.9});
    CHECK_THAT(refusal(clone_of(wrong, kept)),
               Contains("its optimizer is sgd with momentum, and the state") && Contains("adamw"));
  }
  SECTION("other parameters frozen") {
    wrong.chain = with_frozen(more.chain, freezing{{"transformer.h.0.*"}});
    CHECK_THAT(refusal(clone_of(wrong, kept)), Contains("the same parameters must be frozen"));
  }
  SECTION("nothing left to do") {
    CHECK_THAT(refusal(clone_of(source, kept)), Contains("it has 3 steps already") && Contains("give more steps"));
  }
  SECTION("no checkpoint") {
    CHECK_THAT(refusal(clone_of(more, folder.path() / "none")), Contains("is not a checkpoint"));
  }
  SECTION("a damaged one") {
    fs::resize_file(kept / "shard-0000.safetensors", 100);
    CHECK_THAT(refusal(clone_of(more, kept)), Contains("shard-0000.safetensors"));
  }
}
