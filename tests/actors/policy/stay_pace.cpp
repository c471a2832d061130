#include "actors/policy/stay_pace.hpp"

#include "tests/actors/policy/hand_made_view.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Model 0 has computed on device 0 and its next step waits for its version; model 1 could run.
world turning(int remaining) {
  world w{2, 8};
  w.models[0].remaining = us(remaining);
  w.models[0].at_step_boundary = true;
  w.models[0].ended = device_id{0};
  w.devices[0].last = model_id{0};
  w.offer(forward(1, 0, 0));
  return w;
}

/// Device 0 has staged a forward after a backward and a unit too short to hide its load; it started `late`.
void computed_behind_backward(policy& p, int late) {
  world w{1, 8};
  auto& d = w.devices[0];
  for (const auto& u : {backward(0, 0, 0), forward(0, 1, 0), forward(0, 1, 1)}) {
    w.candidates.clear();
    auto& c = w.offer(u);
    c.transfer_time = us(2);
    REQUIRE(w.chosen(p) == 0);
    d.idle = false;
    d.running = d.last = model_id{0};
    d.free_at = w.now + us(1);
  }
  w.now = at(3 + late);
  d.free_at = w.now + us(0);
  w.candidates.clear();
  w.offer(backward(0, 1, 2));
  w.chosen(p);
}

}  // namespace

// -- equal speeds -----------------------------------------------------------------------------------------------------

TEST_CASE("stay-pace stays with the device's own model while none is critical", "[policy]") {
  stay_pace p;
  world w{2, 8};
  w.models[5].remaining = us(1100);
  w.devices[0].last = model_id{3};
  w.offer(forward(3, 0, 1));
  w.offer(forward(5, 0, 0));
  CHECK(w.chosen(p) == 3);
}

TEST_CASE("stay-pace takes the longest critical model before the device's own", "[policy]") {
  stay_pace p;
  world w{2, 8};
  w.models[5].remaining = us(9000);
  w.devices[0].last = model_id{3};
  w.offer(forward(3, 0, 1));
  w.offer(forward(5, 0, 0));
  CHECK(w.chosen(p) == 5);
}

TEST_CASE("stay-pace without its own model avoids loading what is on other devices, then takes the longest",
          "[policy]") {
  stay_pace p;
  world w{2, 8};
  w.models[2].remaining = us(1200);
  w.models[4].remaining = us(1100);
  auto& there = w.offer(backward(2, 0, 0));
  there.elsewhere = device_id{1};
  there.transfer_time = us(5);
  w.offer(forward(3, 0, 0)).transfer_time = us(5);
  w.offer(forward(4, 0, 0)).transfer_time = us(5);
  CHECK(w.chosen(p) == 4);
}

TEST_CASE("stay-pace keeps the slot for a critical model at its step boundary, and for no other", "[policy]") {
  stay_pace critical;
  CHECK(turning(9000).chosen(critical) == std::nullopt);
  stay_pace relaxed;
  CHECK(turning(1000).chosen(relaxed) == 1);
}

TEST_CASE("stay-pace is stay-hold where devices are asked only when they are idle", "[policy]") {
  world w{2, 8};
  w.models[0].remaining = us(6500);  // critical with a margin of 5 %, not with one of 3 %
  w.offer(forward(0, 0, 0));
  w.offer(forward(1, 0, 0));
  w.devices[0].last = model_id{1};
  band stay_hold{{.stay = true}};
  REQUIRE(w.chosen(stay_hold) == 1);
  stay_pace early;
  CHECK(w.chosen(early) == 0);
  w.devices[0].idle = true;
  stay_pace late;
  CHECK(w.chosen(late) == 1);
}

TEST_CASE("stay-pace does not keep the slot of another device", "[policy]") {
  stay_pace p;
  CHECK(turning(9000).chosen(p, 1) == 1);
}

TEST_CASE("stay-pace keeps the slot of the device that will be free first for a critical model", "[policy]") {
  auto w = turning(9000);
  w.devices[0].free_at = w.now + us(5);  // it computes another model
  stay_pace p;
  CHECK(w.chosen(p, 0) == 1);
  CHECK(w.chosen(p, 1) == std::nullopt);
  w.models[0].running = device_id{0};  // its last unit: it goes on there
  CHECK(w.chosen(p, 0) == std::nullopt);
  CHECK(w.chosen(p, 1) == 1);
}

TEST_CASE("a device does not wait longer for two models than for one", "[policy]") {
  world w{1, 2};
  w.devices[0].idle = true;
  hydra::patience p;
  const auto lasts = [&](std::size_t m, int now) { return p.lasts(w.devices[0], w.models[m], at(now), 2000); };
  CHECK(lasts(0, 0));
  CHECK(lasts(1, 1));
  CHECK(lasts(0, 2));
  CHECK_FALSE(lasts(0, 3));
  CHECK(lasts(1, 3));
  CHECK_FALSE(lasts(1, 4));
  p.forget(model_id{0});
  CHECK(lasts(0, 4));
}

// -- behind a staged unit ---------------------------------------------------------------------------------------------

namespace {

/// A unit of model 3 is staged on device 0, and the next one of its lane may follow it there; loads take `load`, visits
/// 1 us.
world staging(int load) {
  world w{2, 8};
  w.devices[0].staged = us(1);
  w.devices[0].last = model_id{3};
  auto& next = w.offer(forward(3, 0, 1));
  next.chained = true;
  next.transfer_time = us(load);
  return w;
}

/// The same, a forward visit of 2 us; model 4, seen at one, is at a backward visit of 4 us.
world beside_backward(int load, stay_pace& p) {
  auto w = staging(load);
  w.candidates[0].cost = us(2);
  auto& other = w.offer(forward(4, 0, 0));
  other.cost = us(2);
  other.transfer_time = us(load);
  w.devices[0].staged = us(0);
  REQUIRE(w.chosen(p) == 3);
  w.devices[0].staged = us(2);
  other.next = backward(4, 0, 1);
  other.cost = us(4);
  return w;
}

}  // namespace

TEST_CASE("stay-pace stages units behind each other only of models whose loads one forward visit does not hide",
          "[policy]") {
  stay_pace hidden;
  CHECK(staging(1).chosen(hidden) == std::nullopt);
  stay_pace exposed;
  CHECK(staging(2).chosen(exposed) == 3);
  auto w = staging(2);
  w.devices[0].staged = us(0);
  stay_pace first;
  CHECK(w.chosen(first) == 3);
}

TEST_CASE("stay-pace lets no critical model wait behind several units of another one", "[policy]") {
  auto w = staging(2);
  w.models[5].remaining = us(9000);
  w.offer(forward(5, 0, 0)).transfer_time = us(2);
  stay_pace waits;
  CHECK(w.chosen(waits) == std::nullopt);
  w.models[3].remaining = us(8500);  // critical, too
  w.candidates[0].remaining = us(8500);
  stay_pace goes_on;
  CHECK(w.chosen(goes_on) == 3);
}

TEST_CASE("stay-pace stages another model behind its own only while none is critical", "[policy]") {
  auto w = staging(2);
  w.candidates.clear();  // model 3 is at its step boundary
  w.offer(forward(4, 0, 0)).transfer_time = us(2);
  stay_pace relaxed;
  CHECK(w.chosen(relaxed) == 4);
  w.models[5].remaining = us(9000);
  stay_pace critical;
  CHECK(w.chosen(critical) == std::nullopt);
}

TEST_CASE("stay-pace takes forward and backward visits in turn while every model could end in time at half of its pace",
          "[policy]") {
  stay_pace p;
  auto w = beside_backward(3, p);  // as long as the mean of both visits
  CHECK(w.chosen(p) == 4);
  w.models[5].remaining = us(2200);  // of 4600
  CHECK(w.chosen(p) == 3);
  w.models[5].remaining = us(1000);
  CHECK(w.chosen(p) == 3);  // behind the backward visit
}

TEST_CASE("stay-pace stays with its own model where loads take longer than the mean visit", "[policy]") {
  stay_pace p;
  auto w = beside_backward(4, p);
  CHECK(w.chosen(p) == 3);
}

TEST_CASE("stay-pace judges the loads and visits of a model by all of its shards", "[policy]") {
  stay_pace p;
  auto w = staging(4);
  w.offer(forward(4, 0, 0)).transfer_time = us(4);
  REQUIRE(w.chosen(p) == 3);
  w.candidates[0].next = forward(3, 0, 2);
  w.candidates[0].transfer_time = us(0);  // of a small shard
  CHECK(w.chosen(p) == 3);
}

TEST_CASE("stay-pace counts a backward visit as long as it took with what its forward visit had saved", "[policy]") {
  stay_pace p;
  auto w = beside_backward(4, p);
  auto& other = w.candidates[1];
  other.cost = us(6);  // loads take as long as the mean visit
  CHECK(w.chosen(p) == 4);
  other.cost = us(4);
  CHECK(w.chosen(p) == 3);
  other.cost = us(6);
  CHECK(w.chosen(p) == 3);
}

TEST_CASE("stay-pace stages no other model behind its own before the next unit of that one is announced", "[policy]") {
  auto w = staging(4);
  w.candidates.clear();
  w.offer(forward(4, 0, 0)).transfer_time = us(4);
  w.models[3].staged_units = 1;
  w.models[3].next_cost = us(16);
  stay_pace waits;
  CHECK(w.chosen(waits) == std::nullopt);
  w.now = at(1);
  CHECK(w.chosen(waits) == std::nullopt);
  w.now = at(2);  // that unit waits itself
  CHECK(w.chosen(waits) == 4);
  w.models[3].at_step_boundary = true;
  stay_pace at_boundary;
  CHECK(w.chosen(at_boundary) == 4);
}

TEST_CASE("shards without backward visits are loaded once for each step", "[policy]") {
  world w{1, 1};
  w.offer(forward(0, 0, 0)).transfer_time = us(3);
  w.candidates[0].cost = us(2);
  seen_times trained;
  trained.look(w.candidates, w.view());
  CHECK_FALSE(trained.of(model_id{0}).loads_longest());  // 6 us, as both visits
  w.models[0].shape.first_trained = 1;
  seen_times frozen;
  frozen.look(w.candidates, w.view());
  CHECK(frozen.of(model_id{0}).loads_longest());
}

TEST_CASE("stay-pace stages one unit at a time on devices of several speeds, and of models in several lanes",
          "[policy]") {
  auto w = staging(2);
  w.devices[1].speed = 0.5;
  stay_pace mixed;
  CHECK(w.chosen(mixed) == std::nullopt);
  w = staging(2);
  w.models[7].lane = 1;
  stay_pace lanes;
  CHECK(w.chosen(lanes) == std::nullopt);
}

TEST_CASE("stay-pace calls a model critical by the pace it has seen", "[policy]") {
  world w{2, 8};  // 8000 us on two devices: model 5 may wait
  w.models[5].remaining = us(2000);
  w.devices[0].last = model_id{3};
  w.offer(forward(3, 0, 1));
  w.offer(forward(5, 0, 0));
  stay_pace p;
  CHECK(w.chosen(p) == 3);
  w.now = at(250);  // 2000 us done by two devices in 250 us each: the rest will be over when model 5 alone can be
  w.models[0].remaining = w.models[1].remaining = us(0);
  CHECK(w.chosen(p) == 5);
  stay_pace sees_nothing;
  CHECK(w.chosen(sees_nothing) == 3);
}

TEST_CASE("a pace is the completed part of the remaining work / the time of all devices", "[policy]") {
  world w{2, 1};
  pace p;
  p.look(w.view());
  CHECK(p.value() == Approx(1));
  w.now = at(100);
  w.models[0].remaining = us(600);
  p.look(w.view());
  CHECK(p.value() == Approx((240.0 + 12) / (120 + 12)));  // the last 120 us count, and 12 us at pace 1
  w.model(1000);                                          // joins
  const auto before = p.value();
  w.now = at(101);
  p.look(w.view());
  CHECK(p.value() > 1);
  CHECK(p.value() <= before);
}

// -- gradients that block loads ---------------------------------------------------------------------------------------

TEST_CASE("stay-pace groups backwards once loads were seen to wait for gradients", "[policy]") {
  world w{1, 8};
  w.devices[0].last = model_id{0};
  w.offer(forward(3, 0, 0));
  w.offer(backward(4, 0, 1)).boundary_time = us(1);
  stay_pace unblocked;
  computed_behind_backward(unblocked, 0);
  CHECK(w.chosen(unblocked) == 3);
  stay_pace blocked;
  computed_behind_backward(blocked, 2);
  CHECK(w.chosen(blocked) == 4);
}

TEST_CASE("stay-pace leaves a model at its first backward for forwards of others, if loads wait for gradients",
          "[policy]") {
  world w{1, 8};
  w.devices[0].last = model_id{0};
  stay_pace p;
  computed_behind_backward(p, 2);
  w.offer(forward(0, 2, 0));
  REQUIRE(w.chosen(p) == 0);
  w.candidates.clear();
  w.offer(backward(0, 2, 1));
  w.offer(forward(3, 0, 0));
  CHECK(w.chosen(p) == 3);
}

TEST_CASE("a load that was a hit, started when it could, or was behind others does not count as delayed by gradients",
          "[policy]") {
  const auto seen = [](bool hit, int late, int staged = 0, bool asked_again = false) {
    drains d;
    world w{1, 1};
    auto& device = w.devices[0];
    device.idle = false;
    device.running = model_id{0};
    device.free_at = at(1);
    for (const auto& u : {backward(0, 0, 0), forward(0, 1, 0), forward(0, 1, 1)}) {
      w.candidates.clear();
      auto& c = w.offer(u);
      c.transfer_time = us(2);
      c.hit = hit;
      device.staged = us(staged);
      d.placed(device, c, w.view());
      if (asked_again) {
        device.staged = us(1);  // the unit that was just placed
        d.look(device, w.view());
        device.staged = us(0);
      }
    }
    device.free_at = at(2 + late) + us(1);
    d.look(device, w.view());
    return d.seen();
  };
  CHECK(seen(false, 1));
  CHECK_FALSE(seen(false, 0));
  CHECK_FALSE(seen(true, 1));
  CHECK_FALSE(seen(false, 1, 1));
  CHECK(seen(false, 1, 0, true));
}

// -- several speeds ---------------------------------------------------------------------------------------------------

namespace {

world mixed(int own_remaining, std::uint32_t own_device) {
  world w{0};
  w.device(1);
  w.device(0.5);
  w.model(10000);
  w.model(10000);
  w.model(own_remaining);
  w.devices[own_device].last = model_id{2};
  w.offer(forward(1, 0, 0));
  w.offer(forward(2, 0, 0));
  return w;
}

}  // namespace

TEST_CASE("stay-pace stays on devices of several speeds for a lead of some units", "[policy]") {
  stay_pace p{{.stay_units = 30}};
  CHECK(mixed(9971, 0).chosen(p, 0) == 2);
  stay_pace q{{.stay_units = 30}};
  CHECK(mixed(9969, 0).chosen(q, 0) == 1);
}

TEST_CASE("a slow device does not stay with a model that a faster one should have", "[policy]") {
  stay_pace p{{.stay_units = 30}};
  CHECK(mixed(10014, 1).chosen(p, 1) == 2);
  stay_pace q{{.stay_units = 30}};
  CHECK(mixed(10016, 1).chosen(q, 1) == 1);
}
