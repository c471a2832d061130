#include "actors/policy/device_health.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

using namespace hydra;

namespace device_health_test {

constexpr device_id d0{0};
constexpr device_id d1{1};
constexpr model_id a{0};
constexpr model_id b{1};

device_health two_devices() {
  device_health h;
  h.add_device(d0);
  h.add_device(d1);
  return h;
}

TEST_CASE("a device on which two models in a row have thrown is broken", "[health]") {
  auto h = two_devices();
  CHECK_FALSE(h.unit_threw(d0, a));
  CHECK(h.unit_threw(d0, b));
}

TEST_CASE("one model that throws again and again does not make its device broken", "[health]") {
  auto h = two_devices();
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(h.unit_threw(d0, a));
  }
}

TEST_CASE("a completed unit between two throws clears the device, and only that device", "[health]") {
  auto h = two_devices();
  CHECK_FALSE(h.unit_threw(d0, a));
  h.unit_completed(d1);
  CHECK(h.unit_threw(d0, b));
  h.unit_completed(d0);
  CHECK_FALSE(h.unit_threw(d0, a));
}

TEST_CASE("throws on different devices are counted apart", "[health]") {
  auto h = two_devices();
  CHECK_FALSE(h.unit_threw(d0, a));
  CHECK_FALSE(h.unit_threw(d1, b));
}

TEST_CASE("the last device is never broken", "[health]") {
  auto h = two_devices();
  h.device_left(d1);
  CHECK_FALSE(h.unit_threw(d0, a));
  CHECK_FALSE(h.unit_threw(d0, b));
}

TEST_CASE("a device that has left is not broken any more", "[health]") {
  auto h = two_devices();
  h.device_left(d0);
  h.unit_completed(d0);
  CHECK_FALSE(h.unit_threw(d0, a));
  CHECK_FALSE(h.unit_threw(d0, b));
}

TEST_CASE("a device is broken exactly if its last two reports are throws of two models", "[health]") {
  std::mt19937 random(7);
  auto h = two_devices();
  std::map<device_id, std::set<model_id>> since_completion;  // kept as small as the rule: the last one that threw
  for (int i = 0; i < 5000; ++i) {
    const device_id device{static_cast<std::uint32_t>(random() % 2)};
    auto& last = since_completion[device];
    if (random() % 3 == 0) {
      h.unit_completed(device);
      last.clear();
      continue;
    }
    const model_id model{static_cast<std::uint32_t>(random() % 3)};
    REQUIRE(h.unit_threw(device, model) == (!last.empty() && !last.contains(model)));
    last = {model};
  }
}

}  // namespace device_health_test
