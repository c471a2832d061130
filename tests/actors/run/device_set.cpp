#include "actors/run/device_set.hpp"

#include "actors/session/session.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/optimizer/update_rule.hpp"
#include "partition/plan/plan_file.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/outfitted_device.hpp"
#include "tests/support/temporary_file.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

model_description mlp_of(const std::string& name, std::int64_t width) {
  return {.name = name,
          .chain = mlp({.layers = 2, .width = width}),
          .data = {synthetic_classes{}},
          .batch_size = 8,
          .steps = 4,
          .optimizer = sgd({.learning_rate = 0.1})};
}

std::unique_ptr<device> model_of_device(const std::string& name, const std::string& model) {
  return std::make_unique<outfitted_device>(make_cpu_device(name, {.memory = 4_MiB}), outfit{.model = model});
}

/// Planned for a device of that model.
workload_plan plan_for(const std::string& device_model, const cut_choice& cuts) {
  session s({.log = verbosity::quiet});
  s.add_device("board", [&](const std::string& name) { return model_of_device(name, device_model); });
  auto m = mlp_of("mlp", 16);
  m.cuts = cuts;
  s.add_model(m);
  return s.plan();
}

/// No two pilots agree in them, because they have times to the nanosecond.
nlohmann::json profiles_of(const workload_plan& plan) { return nlohmann::json::parse(to_json(plan))["profiles"]; }

/// The fault of a run on a device that has `later` when it is made again.
std::string refusal_with(byte_count later) {
  session s({.log = verbosity::quiet});
  int made = 0;
  s.add_device("cpu",
               [&](const std::string& name) { return make_cpu_device(name, {.memory = made++ == 0 ? 4_MiB : later}); });
  s.add_model(mlp_of("mlp", 16));
  try {
    return s.run().all_finished() ? "" : "a model has failed";
  } catch (const fault_error& e) {
    return to_string(e.what_happened().code) + ": " + e.what_happened().text;
  }
}

}  // namespace

TEST_CASE("devices are made for the use that they are wanted for", "[device]") {
  std::vector<device_use> uses;
  const std::vector<device_entry> entries{{"cpu", [&](const std::string& name, device_use use) {
                                             uses.push_back(use);
                                             return make_cpu_device(name, {.memory = 1_MiB});
                                           }}};
  const auto log = make_logger(verbosity::quiet);
  device_set{entries, log, duration{}};
  device_set{entries, log, duration{}, device_use::measure};
  CHECK(uses == std::vector{device_use::run, device_use::measure});
}

TEST_CASE("a model of unknown layers joins a run whose devices hold all the memory there is", "[joining]") {
  session s({.log = verbosity::quiet});
  s.load_plugin(test_plugin("board"));
  s.add_devices(2, "board", {{"memory", 32_MiB}});
  s.add_model(mlp_of("first", 16));
  s.on<step_completed>([](const step_completed& e, control& c) {
    if (e.model == model_id{0} && e.done == 1) c.add(mlp_of("wide", 24));
  });
  const auto r = s.run();
  CHECK(r.notes == std::vector<std::string>{});
  REQUIRE(r.models.size() == 2);
  CHECK(r.all_finished());
}

TEST_CASE("a device that cannot be created is reported with the place where it was described", "[device]") {
  session s({.log = verbosity::quiet});
  s.load_plugin(test_plugin("board"));
  s.add_devices(3, "board", {{"memory", 32_MiB}}, "w.toml:5: device");
  s.add_model(mlp_of("mlp", 16));
  CHECK_THROWS_WITH(s.plan(),
                    StartsWith("w.toml:5: device: device board:2 cannot be made: ") && Contains("no 32.0 MiB left"));
}

TEST_CASE("the times of a saved plan are taken on devices of the model they were measured on, and of no other",
          "[plan]") {
  const auto first = plan_for("H200", balanced_cut{});
  const temporary_file file{to_json(first)};
  CHECK(profiles_of(plan_for("H200", saved_cuts{file.path()})) == profiles_of(first));
  const auto other = plan_for("H100", saved_cuts{file.path()});
  CHECK(other.models[0].cuts() == first.models[0].cuts());
  CHECK_THAT(other.models[0].profile, Contains("H100"));
  CHECK_FALSE(first.profiles.contains(other.models[0].profile));
}

TEST_CASE("a device that has less for the run than when it was planned is refused unless that is enough", "[device]") {
  CHECK(refusal_with(4_MiB) == "");
  CHECK(refusal_with(3_MiB) == "");
  CHECK_THAT(refusal_with(1_KiB), StartsWith("does not fit: device cpu:0 has 1.0 KiB for the run, but had 4.0 MiB"));
}
