#include "actors/policy/device_health.hpp"

#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace hydra;

namespace device_health_test {

constexpr device_id d0{0};
constexpr device_id d1{1};
constexpr device_id d2{2};

device_health devices(std::uint32_t n) {
  device_health h;
  for (std::uint32_t d = 0; d < n; ++d) {
    h.add_device(device_id{d});
  }
  return h;
}

unit of_model(std::uint32_t model, std::uint32_t step = 0, std::uint32_t attempt = 0) {
  return test::forward(model, step, 0, attempt);
}

std::vector<device_id> broken_by(device_health& h, device_id device, const unit& u) {
  std::vector<device_id> all;
  for (const auto& b : h.unit_completed(device, u)) {
    all.push_back(b.device);
  }
  return all;
}

const std::vector<device_id> none;

/// Units of `models` throw on the device, one after the other, until `n` have; `elsewhere` completes each of them.
std::vector<device_id> throw_on(device_health& h, device_id device, device_id elsewhere, std::size_t n,
                                std::uint32_t models = 2) {
  std::vector<device_id> broken;
  for (std::uint32_t i = 0; i < n && broken.empty(); ++i) {
    const auto u = of_model(i % models, i);
    h.unit_threw(device, u, "sick " + std::to_string(i));
    broken = broken_by(h, elsewhere, u);
  }
  return broken;
}

constexpr auto enough = device_health::enough;

TEST_CASE("a device is broken when enough units of two models that threw there are completed elsewhere", "[health]") {
  auto h = devices(2);
  REQUIRE(throw_on(h, d0, d1, enough - 1) == none);
  h.unit_threw(d0, of_model(0, 99), "sicker");
  const auto broken = h.unit_completed(d1, of_model(0, 99, 1));
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].device == d0);
  CHECK(broken[0].thrown == "sicker");
}

TEST_CASE("two devices that are broken in the same way are both found", "[health]") {
  auto h = devices(4);
  std::vector<device_id> found;
  for (std::uint32_t i = 0; i < enough; ++i) {
    const auto u = of_model(i % 6, i);
    h.unit_threw(d0, u, "cuda:0: an illegal address");
    h.unit_threw(d1, u, "cuda:1: an illegal address");
    const auto broken = broken_by(h, d2, u);
    found.insert(found.end(), broken.begin(), broken.end());
  }
  CHECK(found == std::vector{d0, d1});
}

TEST_CASE("twenty models with one bug, whose units throw on every device, make none of eight devices broken",
          "[health]") {
  auto h = devices(8);
  constexpr std::uint32_t models = 20, attempts = 3, right = models;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    for (std::uint32_t m = 0; m < models; ++m) {
      h.unit_threw(device_id{(m + attempt) % 8}, of_model(m, 3, attempt), "the same bug");
    }
  }
  for (std::uint32_t d = 0; d < 8; ++d) {
    CHECK(broken_by(h, device_id{d}, of_model(right, d)) == none);
  }
}

TEST_CASE("a broken device is found beside a model that throws on every device", "[health]") {
  auto h = devices(2);
  const auto bug = of_model(9);
  h.unit_threw(d0, bug, "broken");
  h.unit_threw(d1, bug, "a bug");
  h.unit_threw(d0, bug, "broken");
  h.model_left(model_id{9});
  CHECK(throw_on(h, d0, d1, enough - 1) == none);
  h.unit_threw(d0, of_model(2), "broken");
  CHECK(broken_by(h, d1, of_model(2)) == std::vector{d0});
}

TEST_CASE("models whose units throw at random make no device broken", "[health]") {
  constexpr std::uint32_t n = 3, models = 20, steps = 300;
  std::mt19937 random(7);
  auto h = devices(n);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t m = 0; m < models; ++m) {
      auto u = of_model(m, step);
      auto at = static_cast<std::uint32_t>(random() % n);
      for (; u.attempt < 2 && random() % 10 == 0; ++u.attempt, at = (at + 1) % n) {
        h.unit_threw(device_id{at}, u, "a data race");
      }
      REQUIRE(broken_by(h, device_id{at}, u) == none);
    }
  }
}

TEST_CASE("one model whose units are completed elsewhere does not make its device broken", "[health]") {
  auto h = devices(2);
  CHECK(throw_on(h, d0, d1, 3 * enough, 1) == none);
}

TEST_CASE("a completed unit clears its device, and only that one", "[health]") {
  auto h = devices(3);
  CHECK(throw_on(h, d0, d2, enough - 1) == none);
  CHECK(throw_on(h, d1, d2, enough - 1) == none);
  CHECK(broken_by(h, d1, of_model(7)) == none);
  CHECK(throw_on(h, d1, d2, enough - 1) == none);
  CHECK(throw_on(h, d0, d2, 1) == std::vector{d0});
}

TEST_CASE("a unit that its own device completes at last blames the other one", "[health]") {
  auto h = devices(2);
  CHECK(throw_on(h, d0, d1, enough - 1) == none);
  h.unit_threw(d1, of_model(2), "once");
  h.unit_threw(d0, of_model(2), "sick");
  CHECK(broken_by(h, d1, of_model(2)) == std::vector{d0});
}

TEST_CASE("the last device is never broken, and what has left shows nothing", "[health]") {
  auto h = devices(2);
  CHECK(throw_on(h, d0, d1, enough - 1) == none);
  h.unit_threw(d0, of_model(2), "thrown");
  h.device_left(d1);
  CHECK(broken_by(h, d1, of_model(2)) == none);
  CHECK(broken_by(h, d0, of_model(3)) == none);
}

TEST_CASE("a device that has left is not broken any more", "[health]") {
  auto h = devices(2);
  CHECK(throw_on(h, d0, d1, enough - 1) == none);
  h.device_left(d0);
  CHECK(throw_on(h, d0, d1, enough) == none);
}

TEST_CASE("a model that has ended has shown what it has shown", "[health]") {
  auto h = devices(2);
  CHECK(throw_on(h, d0, d1, enough - 1) == none);
  h.model_left(model_id{0});
  CHECK(throw_on(h, d0, d1, 1, 1) == std::vector{d0});
}

}  // namespace device_health_test
