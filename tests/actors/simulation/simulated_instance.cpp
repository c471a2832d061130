#include "actors/simulation/simulated_instance.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/generator.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/instance_file.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

double ratio(const schedule_instance& instance, const std::string& policy) {
  const auto actors = run_with_actors(instance, make_policy(policy, 0));
  const auto loop = run_in_loop(instance, make_policy(policy, 0), {.completion = completion_rule::written_back});
  return seconds(actors.makespan) / seconds(loop.makespan);
}

}  // namespace

TEST_CASE("the actors make the loop's schedules of the shipped instances", "[actors]") {
  // The longer ones are compared by the deep run (tag [deep]).
  for (const auto* name : {"few-1x1", "few-1x2", "few-4x8", "coarse-3x2", "coarse-4x2-transfers", "coarse-4x3",
                           "coarse-5x3", "optimizer-heavy"}) {
    const auto instance = load_instance(instances_folder() / (std::string{name} + ".json"));
    for (const auto& [policy, expected] : reference_of(name).at("policies").items()) {
      if (policy != "random") {
        INFO(name << " " << policy);
        const auto tolerance = std::max(0.005, 1.5 * expected.at("tie_spread").get<double>());
        CHECK(ratio(instance, policy) == Approx(1).margin(tolerance));
      }
    }
  }
}

TEST_CASE("the actors make the loop's schedules of all shipped instances", "[.][deep]") {
  for (const auto& file : shipped_instances()) {
    const auto instance = load_instance(file);
    for (const auto& [policy, expected] : reference_of(file.stem().string()).at("policies").items()) {
      if (policy != "random") {
        INFO(instance.name << " " << policy);
        const auto tolerance = std::max(0.005, 1.5 * expected.at("tie_spread").get<double>());
        CHECK(ratio(instance, policy) == Approx(1).margin(tolerance));
      }
    }
  }
}

TEST_CASE("the actors give the same run every time, with noise, arrivals and a device that dies", "[actors]") {
  auto instance = generate(
      {.family = instance_family::hetero, .models = 4, .speeds = {1, 1, 0.5}, .rho = 0.5, .length = 0.05, .seed = 2});
  instance.noise = 0.1;
  instance.models[1].arrival = 20ms;
  instance.devices[1].fails = 30ms;
  const auto once = run_with_actors(instance, make_policy("band-hold", 0));
  const auto again = run_with_actors(instance, make_policy("band-hold", 0));
  CHECK(once.makespan == again.makespan);
  CHECK(once.finished == again.finished);
  CHECK(once.loads == again.loads);
}

TEST_CASE("the loop and the actors say the same of what devices have done, and so of cost and energy", "[actors]") {
  auto i = load_instance(instances_folder() / "few-1x2.json");
  i.devices[0].speed = 0.5;
  for (auto& d : i.devices) {
    d.terms = {.price = 3600, .billed = billing::used, .watts = power_draw{300, 50}};
  }
  const auto actors = run_with_actors(i, make_policy("fifo", 0));
  const auto loop = run_in_loop(i, make_policy("fifo", 0), {.completion = completion_rule::written_back});
  for (const auto* r : {&actors, &loop}) {
    CHECK(r->work.makespan == r->makespan);
    double done = 0;
    for (std::size_t d = 0; d < i.devices.size(); ++d) {
      done += seconds(r->work.devices[d].computed[0]) * i.devices[d].speed;
      CHECK(r->work.devices[d].computed[0] <= r->work.devices[d].used);
    }
    CHECK(done == Approx(seconds(bounds_of(i, completion_rule::written_back).limits.work) * 1.5));
  }
  REQUIRE(actors.makespan == loop.makespan);
  for (std::size_t d = 0; d < i.devices.size(); ++d) {
    CHECK(actors.work.devices[d].computed == loop.work.devices[d].computed);
    CHECK(actors.work.devices[d].used == loop.work.devices[d].used);
  }
  const auto& used = loop.work.devices;
  CHECK(expense_of(i, loop).cost->ten_thousandths ==
        std::llround(seconds(used[0].used) * 1e4) + std::llround(seconds(used[1].used) * 1e4));
  CHECK(expense_of(i, loop) == expense_of(i, actors));
}

TEST_CASE("a run whose devices all die ends with the reason", "[actors]") {
  auto instance = load_instance(instances_folder() / "few-1x2.json");
  instance.devices[0].fails = 1ms;
  instance.devices[1].fails = 2ms;
  CHECK_THROWS_AS(run_with_actors(instance, make_policy("fifo", 0)), fault_error);
}

TEST_CASE("the actors make the loop's schedules of models over one base, and of models over one each", "[actors]") {
  for (const bool share : {true, false}) {
    for (const std::uint32_t slots : {2, 4}) {
      auto instance = generate({.family = instance_family::equal,
                                .models = 5,
                                .speeds = {1, 1},
                                .rho = 1,
                                .frozen = 0.95,
                                .share = share,
                                .length = 0.2,
                                .slots = slots});
      instance.models[1].first_trained = 2;
      instance.models[2].replicas = 2;
      for (const auto* policy : {"fifo", "sharded-lrtf", "whole-model", default_policy}) {
        INFO(share << ", " << slots << " slots, " << policy);
        CHECK(ratio(instance, policy) == Approx(1).margin(0.02));  // equal models: some schedules depend on ties
      }
    }
  }
}

TEST_CASE("the actors make the loop's schedules of a model in replicas and waves", "[actors]") {
  for (const auto& [replicas, waves] : {std::pair{2U, 1U}, {1U, 3U}, {2U, 2U}}) {
    for (const std::size_t devices : {1, 2}) {
      auto instance = load_instance(instances_folder() / "few-1x2.json");
      instance.devices.resize(devices);
      instance.models.front().steps = 20;
      instance.models.front().replicas = replicas;
      instance.models.front().waves = waves;
      for (const auto* policy : {"fifo", "sharded-lrtf", default_policy}) {
        INFO(replicas << " replicas, " << waves << " waves, " << devices << " devices, " << policy);
        CHECK(ratio(instance, policy) == Approx(1).margin(0.01));
      }
    }
  }
}
