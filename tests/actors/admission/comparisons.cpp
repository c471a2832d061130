// What the planner compares, with given times.

#include "actors/admission/comparisons.hpp"

#include "actors/admission/staged_units.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/session/hydra.hpp"
#include "runtime/base/interrupt_flag.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <memory>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;

namespace {

/// Four models of eight layers, each layer 1 ms forward, 3 ms backward and 16.25 KiB, on a device that can stage one of
/// them while another is computed, but not before the one before is written back.
struct four_models {
  session_options options{.log = verbosity::quiet};
  std::vector<model_description> models;
  std::vector<device_entry> devices;
  interrupt_flag interrupts;
  planning_setup from{options, models, devices, interrupts, make_logger(verbosity::quiet)};
  planned_run run{.planned = {}, .from = from, .devices = {}, .make_policy = {}};

  explicit four_models(duration load_of_layer, cut_choice cuts = balanced_cut{}) {
    const byte_rate link{16.25 * 1024 / seconds(load_of_layer)};
    devices.push_back({"cpu", [link](const std::string& name, device_use) {
                         return make_cpu_device(name, {.memory = 540_KiB, .link = link});
                       }});
    for (int i = 0; i < 4; ++i) {
      models.push_back({.name = fmt::format("m{}", i),
                        .chain = mlp({.layers = 8, .width = 64}),
                        .data = {synthetic_classes{.features = 64}},
                        .batch_size = 8,
                        .steps = 12,
                        .optimizer = sgd({.learning_rate = 0.1}),
                        .cuts = cuts});
    }
    run.planned = plan_workload(from);
    for (auto& p : run.planned.prepared) {
      auto given = *p.profile;
      for (auto& layer : given.layers) {
        layer.forward = 1ms;
        layer.backward = 3ms;
      }
      p.profile = std::make_shared<const chain_profile>(std::move(given));
      p.profile_for.fill(p.profile);
    }
    run.planned = plan_again(run.planned, from);
    run.devices = run.planned.machines;
    run.make_policy = [] { return make_policy(default_policy, 0); };
    run.most_staged_units = most_staged;
  }
};

}  // namespace

TEST_CASE("models are cut finer where loads are slow, and the simulated run is shorter then", "[admission]") {
  const four_models slow{2ms};
  REQUIRE(slow.run.planned.plan.models[0].shards.size() == 1);
  const auto finer = choose_shards(slow.run);
  REQUIRE(finer);
  for (const auto& way : finer->models) {
    CHECK(way.shards > 1);
    CHECK(way.shards == finer->models[0].shards);
    CHECK(way.parallel == parallel_options{});
  }
  const auto ways = compare_parallel(slow.run, finer_choices(slow.models, slow.run.planned.plan));
  CHECK(fastest(ways).choice == *finer);
  CHECK(seconds(fastest(ways).expected.makespan) * 1.1 < seconds(ways.front().expected.makespan));
}

TEST_CASE("cuts stay as they are where loads are fast, one unit is staged, or the user has given them", "[admission]") {
  CHECK_FALSE(choose_shards(four_models{20us}.run));
  four_models one{2ms};
  one.run.most_staged_units = 1;
  CHECK_FALSE(choose_shards(one.run));
  CHECK_FALSE(choose_shards(four_models{2ms, greedy_cut{}}.run));
  CHECK_FALSE(choose_shards(four_models{2ms, cut_points{0, 4}}.run));
  CHECK_FALSE(choose_shards(four_models{2ms, balanced_cut{.shards = 2}}.run));
}
