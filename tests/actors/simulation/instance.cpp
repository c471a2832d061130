// Validation of instances.

#include "actors/simulation/instance.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <limits>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

/// One model of two shards on one device.

namespace instance_test {

schedule_instance small() {
  schedule_instance i;
  i.devices.emplace_back();
  auto& m = i.models.emplace_back();
  m.name = "m00";
  m.steps = 3;
  m.forward = m.h2d = m.d2h_gradient = m.optimizer = {1ms, 1ms};
  m.backward = {3ms, 3ms};
  return i;
}

std::string refusal(const std::function<void(schedule_instance&)>& bend) {
  auto i = small();
  bend(i);
  try {
    validate(i);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what_happened().text;
  }
  return "accepted";
}

TEST_CASE("a step of S shards has 2S - 1 units") {
  auto i = small();
  CHECK(count_units(i) == 3 * 3);
  i.models.push_back(i.models.front());
  i.models.back().forward = {1ms};
  CHECK(count_units(i) == 3 * 3 + 3);
  i.models.back().replicas = 2;
  i.models.back().waves = 3;
  CHECK(count_units(i) == 3 * 3 + 3 * 6);
}

TEST_CASE("a sound instance is accepted, with times of zero, too") {
  auto i = small();
  CHECK_NOTHROW(validate(i));
  i.models.front().forward = i.models.front().optimizer = {0ms, 0ms};
  CHECK_NOTHROW(validate(i));
}

TEST_CASE("what an instance cannot hold is refused by model and key") {
  using instance = schedule_instance;
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(refusal([](instance& i) { i.devices.clear(); }), Contains("devices: is empty"));
  CHECK_THAT(refusal([](instance& i) { i.models.clear(); }), Contains("models: is empty"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].forward.clear(); }), Contains("models[0] (m00).forward: is empty"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].h2d.pop_back(); }),
             Contains("models[0] (m00).h2d: 1 times are given for 2"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].backward[1] = -1us; }),
             Contains("models[0] (m00).backward[1]: -1 us is negative"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].steps = 0; }), Contains("models[0] (m00).steps: 0"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].replicas = 0; }), Contains("models[0] (m00).replicas: 0 are given"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].waves = 5000; }), Contains("models[0] (m00).waves: 5000 are given"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].arrival = -5us; }), Contains("arrival"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].deadline = -5us; }), Contains("deadline"));
  CHECK_THAT(refusal([&](instance& i) { i.models[0].remaining_scale = nan; }), Contains("remaining_scale"));
  CHECK_THAT(refusal([](instance& i) { i.models[0].priority = 0; }), Contains("priority"));
  CHECK_THAT(refusal([](instance& i) { i.devices[0].speed = 0; }), Contains("devices[0].speed: 0 is given"));
  CHECK_THAT(refusal([](instance& i) { i.devices[0].speed = 1.01; }), Contains("devices[0].speed"));
  CHECK_THAT(refusal([&](instance& i) { i.devices[0].speed = nan; }), Contains("devices[0].speed"));
  CHECK_THAT(refusal([](instance& i) { i.devices[0].fails = -1us; }), Contains("devices[0].fails"));
  CHECK_THAT(refusal([](instance& i) { i.slots = 0; }), Contains("slots: 0"));
  CHECK_THAT(refusal([](instance& i) { i.depth = 2; }), Contains("depth: 2 units are staged at once, 1 to 1"));
  CHECK_THAT(refusal([](instance& i) { i.depth = 0; }), Contains("depth: 0"));
  CHECK_THAT(refusal([](instance& i) { i.prefetch = false, i.slots = i.depth = 3; }), Contains("none is prefetched"));
  CHECK_THAT(refusal([](instance& i) { i.host_workers = 0; }), Contains("host_workers: 0"));
  CHECK_THAT(refusal([](instance& i) { i.noise = 1; }), Contains("noise: 1"));
}

TEST_CASE("a run that nanoseconds cannot count is refused") {
  CHECK_THAT(refusal([](schedule_instance& i) {
               i.models[0].steps = std::numeric_limits<std::uint32_t>::max();
               i.models[0].backward[0] = 24h;
             }),
             Contains("their times add up to"));
}

}  // namespace instance_test
