#include "actors/policy/device_health.hpp"

#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
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

TEST_CASE("a device is broken when units of two models that threw there are completed elsewhere", "[health]") {
  auto h = devices(2);
  h.unit_threw(d0, of_model(0), "sick");
  h.unit_threw(d0, of_model(1), "sicker");
  CHECK(broken_by(h, d1, of_model(0, 0, 1)) == none);
  const auto broken = h.unit_completed(d1, of_model(1, 0, 1));
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].device == d0);
  CHECK(broken[0].thrown == "sicker");
}

TEST_CASE("twenty models with one bug, whose units throw on every device, make none of eight devices broken", "[health]") {
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

TEST_CASE("texts that name the device and differ elsewhere blame no device either, while nothing is completed", "[health]") {
  auto h = devices(2);
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d0, of_model(m), "left: an illegal address");
    h.unit_threw(d1, of_model(m), "right: an illegal address");
    h.model_left(model_id{m});
  }
  CHECK(broken_by(h, d1, of_model(2)) == none);
  CHECK(broken_by(h, d0, of_model(3)) == none);
}

TEST_CASE("a broken device is found beside a model that throws on every device", "[health]") {
  auto h = devices(2);
  const auto bug = of_model(9);
  h.unit_threw(d0, bug, "broken");
  h.unit_threw(d1, bug, "a bug");
  h.unit_threw(d0, bug, "broken");
  h.model_left(model_id{9});
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d0, of_model(m), "broken");
    CHECK(broken_by(h, d1, of_model(m)) == (m == 0 ? none : std::vector{d0}));
  }
}

TEST_CASE("a model that throws the same text on two devices is the cause, although other attempts succeed", "[health]") {
  auto h = devices(3);
  const auto at = GENERATE(as<std::pair<const char*, const char*>>{}, std::pair{"size 3", "size 3"},
                           std::pair{"a 1 step 7 on cuda:0: size 3", "a 0 step 12 on cuda:1: size 33"});
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d1, of_model(m, 0), at.second);
    broken_by(h, d2, of_model(m, 0));
    broken_by(h, d1, of_model(7));
  }
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d0, of_model(m, 1), at.first);
    CHECK(broken_by(h, d2, of_model(m, 1)) == none);
  }
}

TEST_CASE("one model whose units are completed elsewhere does not make its device broken", "[health]") {
  auto h = devices(2);
  for (std::uint32_t step = 0; step < 10; ++step) {
    h.unit_threw(d0, of_model(0, step), "thrown");
    CHECK(broken_by(h, d1, of_model(0, step)) == none);
  }
}

TEST_CASE("a completed unit clears its device, and only that one", "[health]") {
  auto h = devices(3);
  const auto fails_on = [&](device_id device, std::uint32_t model) {
    h.unit_threw(device, of_model(model), "thrown");
    return broken_by(h, d2, of_model(model));
  };
  CHECK(fails_on(d0, 0) == none);
  CHECK(fails_on(d1, 1) == none);
  CHECK(broken_by(h, d1, of_model(7)) == none);
  CHECK(fails_on(d1, 2) == none);
  CHECK(fails_on(d0, 3) == std::vector{d0});
}

TEST_CASE("a unit that its own device completes at last blames the other one", "[health]") {
  auto h = devices(2);
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d1, of_model(m), "once");
    h.unit_threw(d0, of_model(m), "sick");
    CHECK(broken_by(h, d1, of_model(m)) == (m == 0 ? none : std::vector{d0}));
  }
}

TEST_CASE("the last device is never broken, and what has left shows nothing", "[health]") {
  auto h = devices(2);
  for (std::uint32_t m = 0; m < 2; ++m) {
    h.unit_threw(d0, of_model(m), "thrown");
  }
  h.device_left(d1);
  CHECK(broken_by(h, d1, of_model(0)) == none);
  CHECK(broken_by(h, d1, of_model(1)) == none);
  CHECK(broken_by(h, d0, of_model(0)) == none);
}

TEST_CASE("a device that has left is not broken any more", "[health]") {
  auto h = devices(2);
  h.unit_threw(d0, of_model(0), "thrown");
  h.device_left(d0);
  h.unit_threw(d0, of_model(1), "thrown");
  CHECK(broken_by(h, d1, of_model(0)) == none);
  CHECK(broken_by(h, d1, of_model(1)) == none);
}

TEST_CASE("a model that has ended has shown what it has shown", "[health]") {
  auto h = devices(2);
  h.unit_threw(d0, of_model(0), "sick");
  CHECK(broken_by(h, d1, of_model(0)) == none);
  h.model_left(model_id{0});
  h.unit_threw(d0, of_model(1), "sick");
  CHECK(broken_by(h, d1, of_model(1)) == std::vector{d0});
}

}  // namespace device_health_test
