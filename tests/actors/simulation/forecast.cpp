// Real plans in virtual time.

#include "actors/simulation/predict.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/planned_instance.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace {

/// As many models of two shards, planned: visits of 2 ms, shards of 1 ms to copy.
forecast_setup planned(std::size_t models, std::size_t devices, std::uint32_t steps) {
  forecast_setup setup;
  for (std::size_t i = 0; i < devices; ++i) {
    setup.devices.push_back(roomy_device(i));
  }
  for (std::size_t i = 0; i < models; ++i) {
    setup.models.push_back(make_simulated_model(even_model("m" + std::to_string(i), 2, steps, 2ms, 1ms)));
  }
  setup.chosen = make_policy("sharded-lrtf", 0);
  return setup;
}

}  // namespace

TEST_CASE("a forecast takes as long as the simulation of the same models, to the nanosecond") {
  std::vector<simulated_model> models{even_model("m0", 2, 3, 2ms, 1ms), even_model("m1", 2, 3, 2ms, 1ms)};
  const auto simulated = makespan(*finished(even_run(models, 1)));
  const auto f = predict(planned(2, 1, 3));
  CHECK(f.makespan == simulated);
  CHECK(f.policy == "sharded-lrtf");
  CHECK(f.shortened == 1);
}

TEST_CASE("a forecast is never below its bounds, and counts the update and the copies at each step boundary") {
  auto setup = planned(1, 1, 4);
  const auto chain = predict(planned(1, 1, 4)).limits.chain;
  auto slow = std::make_shared<sharded_model>(*setup.models.front());
  slow->plan.shards.front().update_time = 5ms;
  setup.models.front() = slow;
  const auto f = predict(std::move(setup));
  CHECK(f.limits.chain == chain + 4 * 5ms);
  CHECK(f.makespan >= f.limits.best());
}

TEST_CASE("a planned model promotes its frozen parameters once where they stay on the device, not for each version") {
  auto m = even_model("m", 2, 50, 2ms, 100us);
  for (auto& s : m.shards) {
    s.base = bytes_of(3ms);
  }
  const std::vector models{make_simulated_model(m)};
  const auto device = roomy_device(0);
  const auto instance = planned_instance(models, {&device, 1});
  CHECK(instance.models[0].base_h2d == std::vector<duration>(2, 3ms));
  CHECK(instance.models[0].h2d == std::vector<duration>(2, 100us));
  CHECK(remaining_scales(models, {&device, 1}).front() < 1.2);  // eight steps of 6 ms
}

TEST_CASE("a plan and the record of its run bound the copies of shared frozen parameters in the same way") {
  std::vector<simulated_model> models(2, even_model("m", 5, 6, 2ms, 100us));
  for (auto& m : models) {
    for (std::uint32_t s = 0; s < m.shards.size(); ++s) {
      m.shards[s].base = bytes_of(4ms);
      m.shards[s].shared_base = base_place{model_id{0}, shard_index{s}};
    }
  }
  auto setup = even_run(models, 1);
  setup.devices[0].memory = bytes_of(9ms);   // two of the bases
  std::vector<unit_times> planned;
  for (const auto& m : models) {
    planned.push_back(planned_times(*make_simulated_model(m), setup.devices));
  }
  const resources machine{.speeds = {1}, .memory = setup.devices[0].memory};
  const auto s = finished(std::move(setup));
  std::vector<unit_times> seen;
  for (const auto& m : s->record()->models) {
    seen.push_back(m.smallest);
  }
  const auto bound = lower_bounds(planned, machine).h2d;
  const duration walk{5 * 4ms - 9ms};
  CHECK(bound == 5 * 4ms + 11 * walk + 2 * 6 * 5 * 100us);
  CHECK(lower_bounds(seen, machine).h2d == bound);
  CHECK(makespan(*s) >= bound);
}

TEST_CASE("a plan and the record of its run bound the copies of parameters for which memory is short in the same way") {
  auto m = even_model("m", 5, 6, 2ms, 1ms);
  for (auto& s : m.shards) {
    s.working = bytes_of(3ms);
  }
  auto setup = even_run({m}, 1);
  setup.devices[0].memory = bytes_of(6ms);   // next to a visit there is room for two shards
  setup.pipeline.staging_bytes = bytes_of(1ms);
  setup.pipeline.computing_bytes = bytes_of(4ms);
  const resources machine{.speeds = {1}, .memory = setup.devices[0].memory};
  const auto planned = planned_times(*make_simulated_model(m), setup.devices);
  const auto s = finished(std::move(setup));
  const auto& seen = s->record()->models[0].smallest;
  CHECK(lower_bounds({&planned, 1}, machine).h2d == 6 * (5 + 2) * 1ms);
  CHECK(lower_bounds({&seen, 1}, machine).h2d == 6 * (5 + 2) * 1ms);
  CHECK(makespan(*s) >= 6 * (5 + 2) * 1ms);
}

TEST_CASE("no run of a model in replicas and waves is shorter than a bound of its plan") {
  const std::vector<device_info> devices{roomy_device(0), roomy_device(1), roomy_device(2)};
  for (const auto& [replicas, waves] : {std::pair{1u, 2u}, {1u, 8u}, {2u, 1u}, {2u, 4u}, {4u, 2u}}) {
    auto m = even_model("m", 3, 4, 8ms, 1ms);
    m.micro_batches = 8;
    m.replicas = replicas;
    m.waves = waves;
    m.evaluation.range = {.micro_batches = 3};
    const auto times = planned_times(*make_simulated_model(m), devices);
    const auto limits = lower_bounds({&times, 1}, resources{.speeds = {1, 1, 1}});
    for (const auto& entry : built_in_policies()) {
      INFO(entry.name << ", " << replicas << " replicas, " << waves << " waves");
      auto setup = even_run({m}, 3);
      setup.chosen = make_policy(entry.name, 0);
      const auto took = makespan(*finished(std::move(setup)));
      for (const auto& each : limits.all()) {
        INFO(each.name);
        CHECK(took >= each.value);
      }
    }
  }
}

TEST_CASE("waves let devices work on one model like the stages of a pipeline") {
  const auto predicted = [](std::uint32_t waves) {
    auto m = even_model("m", 4, 10, 32ms, 1us);
    m.micro_batches = 8;
    m.waves = waves;
    auto setup = planned(0, 4, 10);
    setup.models = {make_simulated_model(m)};
    setup.chosen = make_policy("stay-pace", 0);
    return predict(std::move(setup)).makespan;
  };
  CHECK(seconds(predicted(8)) < seconds(predicted(1)) / 1.5);
}

TEST_CASE("a long run is predicted from a short one of the same models") {
  auto setup = planned(2, 1, 400);
  setup.most_units = 2 * 3 * 100;
  const auto f = predict(std::move(setup));
  CHECK(f.shortened == 4);
  const auto exact = predict(planned(2, 1, 400)).makespan;
  CHECK(f.makespan >= exact);
  CHECK(f.makespan < exact * 102 / 100);
}
