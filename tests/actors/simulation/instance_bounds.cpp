// Bounds of instances, against those of an independent program.

#include "actors/simulation/instance_bounds.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_file.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

TEST_CASE("the bounds of the shipped instances are the reference's, to a microsecond") {
  for (const auto& file : shipped_instances()) {
    const auto& expected = reference_of(file.stem()).at("bounds");
    for (const auto& [name, value] : bounds_of(load_instance(file)).all()) {
      INFO(file.stem() << " " << name);
      if (name != "slots") {  // which has tests of its own
        CHECK(seconds(value) * 1e6 == Approx(expected.at(name).get<double>()).margin(1).epsilon(0));
      }
    }
  }
}

TEST_CASE("no model can end earlier than its chain after its arrival") {
  auto i = load_instance(instances_folder() / "few-1x2.json");
  const auto before = bounds_of(i);
  i.models[0].arrival = 1s;
  const auto after = bounds_of(i);
  CHECK(after.limits.chain == before.limits.chain + 1s);
  CHECK(after.staged_chain == *before.staged_chain + 1s);
  CHECK(after.limits.work == before.limits.work);
}

TEST_CASE("noise may make every unit shorter, and so the bounds") {
  auto i = load_instance(instances_folder() / "equal-12x8.json");
  const auto before = bounds_of(i).limits;
  i.noise = 0.25;
  CHECK(bounds_of(i).limits.work == before.work * 3 / 4);
  CHECK(bounds_of(i).limits.chain == before.chain * 3 / 4);
}

TEST_CASE("a model of one shard has one unit a step, of both its times") {
  schedule_instance i;
  i.devices.emplace_back();
  auto& m = i.models.emplace_back();
  m.steps = 3;
  m.forward = {1ms};
  m.backward = {3ms};
  m.h2d = m.d2h_gradient = m.optimizer = {2ms};
  const auto b = bounds_of(i);
  CHECK(b.limits.work == 12ms);
  CHECK(b.limits.chain == 3 * (2ms + 4ms + 2ms + 2ms));
  CHECK(b.staged_chain == b.limits.chain);
}

TEST_CASE("shards below the first trained one have no backward units, and no gradient goes down to them") {
  schedule_instance i;
  i.devices.emplace_back();
  auto& m = i.models.emplace_back();
  m.steps = 2;
  m.first_trained = 1;
  m.forward = m.h2d = {1ms, 1ms};
  m.backward = {3ms, 3ms};
  m.d2h_gradient = {5ms, 5ms};
  m.optimizer = {0ms, 0ms};
  m.activation = 4ms;
  const auto b = bounds_of(i);
  CHECK(b.limits.work == 2 * (1ms + 4ms));
  CHECK(b.limits.d2h == 2 * 5ms);
  CHECK(b.staged_chain == 2 * (1ms + 1ms + 4ms + 5ms));
  CHECK(run_in_loop(i, make_policy("fifo", 0)).makespan == b.staged_chain);
}
