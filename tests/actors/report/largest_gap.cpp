#include "actors/report/largest_gap.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

/// Ten seconds, all of them computed.
report busy_run() {
  report r;
  r.makespan = 10s;
  r.limits.work = 10s;
  r.devices.resize(1);
  r.devices[0].time.compute = 10s;
  return r;
}

}  // namespace

TEST_CASE("a run at its bound has no gap, nor has one that was not measured", "[report]") {
  CHECK_FALSE(largest_gap(busy_run()));
  CHECK_FALSE(largest_gap(report{}));
}

TEST_CASE("the largest gap is the part of the devices' time that is largest beside computing", "[report]") {
  auto r = busy_run();
  r.limits.work = 7s;
  r.devices[0].time = {.compute = 7s, .exposed_h2d = 2s, .actors = 1s};
  REQUIRE(largest_gap(r));
  CHECK(largest_gap(r)->share == Approx(0.2));
  CHECK(largest_gap(r)->text == "waits for copies to the devices");
  r.devices.push_back(r.devices[0]);
  r.devices[1].time = {.no_unit = 10s};
  r.limits.work = 3500ms;
  CHECK(largest_gap(r)->share == Approx(0.5));
  CHECK(largest_gap(r)->text == "devices had nothing to train");
}

TEST_CASE("units that took longer than their smallest times are a gap, too", "[report]") {
  auto r = busy_run();
  r.limits.work = 6s;
  r.devices[0].time = {.compute = 9s, .optimizer = 1s};
  REQUIRE(largest_gap(r));
  CHECK(largest_gap(r)->share == Approx(0.3));
  CHECK(largest_gap(r)->text == "units took longer than at their fastest");
}

TEST_CASE("a slow device counts as its speed does", "[report]") {
  auto r = busy_run();
  r.devices.resize(2);
  r.devices[1].speed = 0.25;
  r.devices[1].time = {.no_unit = 10s};
  r.limits.work = 8s;
  REQUIRE(largest_gap(r));
  CHECK(largest_gap(r)->share == Approx(0.2));
}

TEST_CASE("what the bound has in it is no gap", "[report]") {
  auto r = busy_run();
  r.devices.resize(4);
  for (std::size_t d = 1; d < 4; ++d) {
    r.devices[d].time = {.no_unit = 10s};
  }
  r.devices[0].time = {.compute = 9s, .predecessor = 1s};
  r.limits = {.work = 2250ms, .chain = 8s};  // one model: the others have nothing to do at best
  REQUIRE(largest_gap(r));
  CHECK(largest_gap(r)->text == "waits for another device's part of the model");
}
