#include "actors/simulation/event_loop.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/generator.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/instance_file.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

duration microseconds_of(const nlohmann::json& j) { return duration{std::llround(j.get<double>() * 1000)}; }

simulated_run run(const schedule_instance& instance, const std::string& policy, const loop_options& options = {}) {
  return run_in_loop(instance, make_policy(policy, 0), options);
}

schedule_instance small(std::uint64_t seed) {
  return generate(
      {.family = instance_family::hetero, .models = 5, .speeds = {1, 1, 0.5}, .rho = 0.5, .length = 0.1, .seed = seed});
}

/// "m01/0/F1": F, L or B and the shard.
std::string name_of(const simulated_unit& u, const schedule_instance& instance) {
  const auto& m = instance.models[u.model.value];
  const auto shards = static_cast<std::uint32_t>(m.forward.size());
  const auto shard = u.index < shards ? u.index : 2 * shards - 2 - u.index;
  const char way = u.index + 1 < shards ? 'F' : u.index + 1 == shards ? 'L' : 'B';
  return m.name + "/" + std::to_string(u.step) + "/" + way + std::to_string(shard);
}

/// Units of each model, as they were run.
std::map<std::uint32_t, std::vector<simulated_unit>> by_model(const simulated_run& r) {
  std::map<std::uint32_t, std::vector<simulated_unit>> units;
  for (const auto& u : r.units) {
    units[u.model.value].push_back(u);
  }
  return units;
}

}  // namespace

TEST_CASE("every deterministic policy makes the study's schedule of every shipped instance, to the nanosecond",
          "[loop]") {
  std::size_t compared = 0;
  for (const auto& file : shipped_instances()) {
    const auto instance = load_instance(file);
    for (const auto& [policy, expected] : reference_of(file.stem().string()).at("policies").items()) {
      if (policy == "random") {
        continue;
      }
      INFO(instance.name << " " << policy);
      const auto r = run(instance, policy);
      CHECK(r.makespan == microseconds_of(expected.at("makespan")));
      CHECK(r.compute_end == microseconds_of(expected.at("compute_end")));
      CHECK(r.loads == expected.at("loads").get<std::uint64_t>());
      CHECK(r.hits == expected.at("hits").get<std::uint64_t>());
      ++compared;
    }
  }
  CHECK(compared == 308);
}

TEST_CASE("random choices have the study's mean makespan", "[loop]") {
  for (const auto& file : shipped_instances()) {
    const auto instance = load_instance(file);
    const auto& expected = reference_of(instance.name).at("policies").at("random");
    double sum = 0;
    constexpr std::uint64_t seeds = 20;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      sum += static_cast<double>(run_in_loop(instance, make_policy("random", seed)).makespan.count()) / 1000;
    }
    INFO(instance.name);
    CHECK(sum / seeds == Approx(expected.at("mean").get<double>()).epsilon(0.02));
  }
}

TEST_CASE("the order of the units is the study's, unit by unit", "[loop]") {
  for (const auto* name : {"coarse-3x2", "coarse-4x2-transfers", "coarse-4x3", "coarse-5x3"}) {
    const auto instance = load_instance(instances_folder() / (std::string{name} + ".json"));
    for (const auto& [policy, devices] : reference_of(name).at("order").items()) {
      INFO(name << " " << policy);
      auto units = run(instance, policy, {.record_order = true}).units;
      std::ranges::stable_sort(units, {}, &simulated_unit::device);
      std::size_t i = 0;
      for (std::uint32_t d = 0; d < devices.size(); ++d) {
        for (const auto& expected : devices.at(d).at("order")) {
          const auto& u = units.at(i++);
          CHECK(u.device.value == d);
          CHECK(expected.at(0).get<std::string>() == name_of(u, instance));
          CHECK(u.begin == microseconds_of(expected.at(1)));
          CHECK(u.end == microseconds_of(expected.at(2)));
          CHECK((expected.at(3) == "hit") == u.hit);
        }
      }
      CHECK(i == units.size());
    }
  }
}

TEST_CASE("each model's units run once and one after the other, by either rule of completion, with noise and arrivals",
          "[loop]") {
  auto instance = small(3);
  instance.noise = 0.2;
  instance.models[2].arrival = 50ms;
  for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
    for (const auto& entry : built_in_policies()) {
      INFO(entry.name);
      const auto r = run(instance, entry.name, {.completion = rule, .record_order = true});
      REQUIRE(r.units.size() == count_units(instance));
      for (const auto& [m, units] : by_model(r)) {
        const auto per_step = 2 * instance.models[m].forward.size() - 1;
        CHECK(units.front().begin >= instance.models[m].arrival);
        for (std::size_t i = 0; i < units.size(); ++i) {
          CHECK(units[i].step * per_step + units[i].index == i);
          CHECK((i == 0 || units[i].begin >= units[i - 1].end));
        }
      }
    }
  }
}

TEST_CASE("a model continues on another device when its device dies, and no unit that had ended is run again",
          "[loop]") {
  auto instance = small(4);
  instance.devices[0].fails = 40ms;
  for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
    const auto r = run(instance, "band-hold", {.completion = rule, .record_order = true});
    const auto late = [](const simulated_unit& u) { return u.device.value == 0 && u.end > 40ms; };
    CHECK(std::ranges::none_of(r.units, late));
    CHECK(r.units.size() >= count_units(instance));
    if (rule == completion_rule::ended) {
      CHECK(r.units.size() == count_units(instance));
    }
  }
  for (auto& d : instance.devices) {
    d.fails = 40ms;
  }
  CHECK_THROWS_AS(run(instance, "fifo"), fault_error);
}

TEST_CASE("a device may die while the last unit of a model is written back", "[loop]") {
  schedule_instance i;
  i.devices = {{.speed = 1, .fails = 2500us}, {.speed = 1}};
  i.models.push_back(
      {.name = "m", .forward = {500us}, .backward = {1500us}, .h2d = {0us}, .d2h_gradient = {5ms}, .optimizer = {0us}});
  const auto r = run(i, "fifo", {.completion = completion_rule::written_back, .record_order = true});
  CHECK(r.units.size() == 2);
  CHECK(r.makespan == 2500us + 2ms + 5ms);
}

TEST_CASE("no output is on the host before those of the units before it, although its copies take no time", "[loop]") {
  schedule_instance i;
  i.devices = {{.speed = 1, .fails = 4ms}, {.speed = 1}};
  i.host_workers = 2;
  const auto activation = GENERATE(duration{}, duration{20ms});
  const auto gradient = activation > 0us ? duration{} : duration{9ms};
  i.models.push_back({.name = "m", .steps = 3, .forward = {1ms, 500us}, .backward = {1ms, 500us}, .h2d = {0us, 0us},
                      .d2h_gradient = {0us, gradient}, .optimizer = {20ms, 0us}, .activation = activation});
  const auto r = run(i, "fifo", {.completion = completion_rule::written_back, .record_order = true});
  CHECK(r.units.size() > count_units(i));  // some were lost
  CHECK(r.makespan >= bounds_of(i).limits.best());
}

TEST_CASE("a base that is on a device serves all models that have it, the trained rest of a shard is copied for each",
          "[loop]") {
  schedule_instance i;
  i.devices.resize(1);
  i.models.push_back({.name = "a",
                      .forward = {1ms, 1ms},
                      .backward = {1ms, 1ms},
                      .h2d = {100us, 100us},
                      .d2h_gradient = {0us, 0us},
                      .optimizer = {0us, 0us},
                      .base_h2d = {10ms, 10ms},
                      .base = "x"});
  i.models.push_back(i.models.front());
  i.models.back().name = "b";
  for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
    const auto shared = run(i, "fifo", {.completion = rule});
    CHECK((shared.loads == 2 && shared.hits == 4));
    CHECK(shared.makespan == 10100us + 1ms + 10100us + 2 * 2ms + 2 * 1ms);
  }
  i.models.back().base = "y";
  CHECK(run(i, "fifo").loads > 4);
}

TEST_CASE("the loop gives the same run every time", "[loop]") {
  auto instance = small(5);
  instance.noise = 0.1;
  const auto once = run(instance, "lla");
  const auto again = run(instance, "lla");
  CHECK(once.makespan == again.makespan);
  CHECK(once.finished == again.finished);
  instance.seed = 1;
  CHECK(run(instance, "lla").makespan != once.makespan);
}

TEST_CASE("completion times count from a model's arrival, weighted by priority", "[loop]") {
  schedule_instance instance;
  instance.models.resize(2);
  instance.models[1].arrival = 10ms;
  instance.models[1].priority = 3;
  simulated_run r;
  r.finished = {20ms, 50ms};
  CHECK(completions_of(instance, r).mean == 30ms);
  CHECK(completions_of(instance, r).weighted == 35ms);
  CHECK(completions_of(instance, r).deadlines == 0);
}

TEST_CASE("tardiness is the mean time after the deadline, of models that have one", "[loop]") {
  schedule_instance instance;
  instance.models.resize(4);
  instance.models[0].deadline = 20ms;
  instance.models[1].deadline = 20ms;
  instance.models[2].deadline = 100ms;
  simulated_run r;
  r.finished = {20ms, 50ms, 60ms, 70ms};
  const auto c = completions_of(instance, r);
  CHECK(c.deadlines == 3);
  CHECK(c.missed == 1);  // it is not late at its deadline
  CHECK(c.tardiness == 10ms);
}
