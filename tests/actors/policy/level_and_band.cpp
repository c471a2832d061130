#include "actors/policy/band.hpp"
#include "actors/policy/level.hpp"
#include "actors/policy/lla.hpp"
#include "actors/policy/srtf.hpp"
#include "actors/policy/stay_pace.hpp"
#include "tests/actors/policy/hand_made_view.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

/// One model of 1000 us that has just ended a step on device 0, which is asked while another model has a unit ready.

namespace level_and_band_test {

world turning() {
  world w{1, 1};
  w.model(10);
  auto& m = w.models[0];
  m.at_step_boundary = true;
  m.ended = device_id{0};
  m.flights = 1;
  w.devices[0].last = model_id{0};
  w.devices[0].idle = true;
  w.offer(forward(1, 0, 0));
  return w;
}

TEST_CASE("lla takes the longest critical candidate, else the one with the least transfer", "[policy]") {
  world w{2, 4};
  w.model(7000);
  w.offer(forward(0, 0, 0)).transfer_time = us(5);
  w.offer(forward(1, 0, 0)).transfer_time = us(2);
  lla p;
  CHECK(w.chosen(p) == 1);
  w.offer(forward(4, 0, 0)).transfer_time = us(9);
  CHECK(w.chosen(p) == 4);
}

TEST_CASE("level gives a slow device no unit that a faster one would end sooner", "[policy]") {
  world w{1};
  w.device(0.1);
  w.model(100);
  w.offer(forward(0, 0, 0));
  level p;
  CHECK(w.chosen(p, 0) == 0);
  CHECK(w.chosen(p, 1) == std::nullopt);
}

TEST_CASE("level gives a unit to the slow device if the faster one must not have it", "[policy]") {
  world w{1};
  w.device(0.1);
  w.model(100);
  w.offer(forward(0, 0, 0)).avoided = {device_id{0}};
  level p;
  band held;
  stay_pace stays;
  CHECK(w.chosen(p, 1) == 0);
  CHECK(w.chosen(held, 1) == 0);
  CHECK(w.chosen(stays, 1) == 0);
}

TEST_CASE("band-hold keeps the slot at the step boundary of a critical model, band does not", "[policy]") {
  const auto w = turning();
  band held;
  band plain{{.hold = false}};
  CHECK(w.chosen(held) == std::nullopt);
  CHECK(w.chosen(plain) == 1);
}

TEST_CASE("no policy holds for a step boundary that takes longer than losing the slot may cost", "[policy]") {
  auto w = turning();
  band held;
  stay_pace stays;
  REQUIRE(w.chosen(held) == std::nullopt);
  REQUIRE(w.chosen(stays) == std::nullopt);
  w.now += us(2000);
  CHECK(w.chosen(held) == 1);
  CHECK(w.chosen(stays) == 1);
}

TEST_CASE("the wait of the next step boundary is counted separately", "[policy]") {
  auto w = turning();
  band held;
  w.chosen(held);
  w.now += us(2000);
  w.models[0].remaining = us(990);  // a step later
  CHECK(w.chosen(held) == std::nullopt);
}

TEST_CASE("srtf weighs what is left by priority, and may stay with its model", "[policy]") {
  world w{1, 1};
  w.model(500);
  w.offer(forward(0, 0, 0));
  w.offer(forward(1, 0, 0));
  srtf p;
  CHECK(w.chosen(p) == 1);
  w.models[0].priority = 3;
  CHECK(w.chosen(p) == 0);
  w.devices[0].last = model_id{1};
  srtf stays{1000};
  CHECK(w.chosen(stays) == 1);
}

}  // namespace level_and_band_test
