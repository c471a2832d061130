#include "actors/policy/lane_tracker.hpp"

#include "runtime/base/step_graph.hpp"
#include "runtime/base/fault.hpp"
#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

using namespace hydra;
using namespace hydra::test;

namespace lane_tracker_test {

constexpr device_id d0{0};
constexpr device_id d1{1};
constexpr device_id d2{2};

void fly(lane_tracker& m, const unit& u, device_id d) {
  REQUIRE(m.announce(ready(u), at(0)));
  m.place(d, {});
}

/// F_0 and F_1 on device 0, B_2 on device 1, all in flight.
lane_tracker three_flights() {
  lane_tracker m;
  fly(m, forward(0, 0, 0), d0);
  fly(m, forward(0, 0, 1), d0);
  fly(m, backward(0, 0, 2), d1);
  return m;
}

TEST_CASE("the chain goes forward up the shards, backward down, then to the next step", "[policy]") {
  const auto chain = chain_of(0, 3, 2);
  CHECK(std::ranges::is_sorted(chain, visited_before));
  CHECK(std::ranges::adjacent_find(chain, std::not_fn(visited_before)) == chain.end());
}

TEST_CASE("evaluation of a version comes before the training that makes the next one", "[policy]") {
  CHECK(visited_before(backward(0, 0, 0), evaluate(0, 1, 0)));
  CHECK(visited_before(evaluate(0, 1, 0), evaluate(0, 1, 1)));
  CHECK(visited_before(evaluate(0, 1, 1), forward(0, 1, 0)));
}

TEST_CASE("attempts of one visit have the same position", "[policy]") {
  CHECK_FALSE(visited_before(forward(0, 0, 1, 0), forward(0, 0, 1, 1)));
  CHECK_FALSE(visited_before(forward(0, 0, 1, 1), forward(0, 0, 1, 0)));
}

TEST_CASE("a placed unit is a flight until it completes, once", "[policy]") {
  lane_tracker m;
  fly(m, forward(0, 0, 0), d0);
  CHECK_FALSE(m.announced());
  CHECK(m.complete(forward(0, 0, 0), at(1)));
  CHECK_FALSE(m.complete(forward(0, 0, 0), at(2)));
  CHECK(m.flights().empty());
}

TEST_CASE("the hint binds the unit to its device until no flight is left there", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d0), at(5)));
  CHECK(m.bound_to() == d0);
  REQUIRE(m.complete(forward(0, 0, 0), at(6)));
  CHECK(m.bound_to() == d0);
  REQUIRE(m.complete(forward(0, 0, 1), at(7)));
  CHECK(m.bound_to() == std::nullopt);
  CHECK(m.available_since() == at(7));
}

TEST_CASE("a hint at a device without flight of the model is void from the start", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d2), at(5)));
  CHECK(m.bound_to() == std::nullopt);
  CHECK(m.available_since() == at(5));
}

TEST_CASE("a completion elsewhere does not touch the hint", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d0), at(5)));
  REQUIRE(m.complete(backward(0, 0, 2), at(6)));
  CHECK(m.bound_to() == d0);
  CHECK(m.available_since() == at(5));
}

TEST_CASE("remaining time shrinks by the unit that is placed", "[policy]") {
  lane_tracker m;
  REQUIRE(m.announce(ready(forward(0, 0, 0), std::nullopt, 100), at(0)));
  CHECK(m.remaining() == std::chrono::microseconds{100});
  m.place(d0, {});
  CHECK(m.remaining() == std::chrono::microseconds{90});
}

TEST_CASE("a failed unit takes all later flights with it, and no earlier one", "[policy]") {
  auto m = three_flights();
  const auto loss = m.fail(forward(0, 0, 1));
  REQUIRE(loss);
  CHECK(loss->model == model_id{0});
  CHECK(loss->next_attempt == 1);
  CHECK(units_of(loss->lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(loss->withdraw) == std::vector{backward(0, 0, 2)});
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0)});
}

TEST_CASE("a loss restores the remaining time, and returns the next unit", "[policy]") {
  lane_tracker m;
  m.announce(ready(forward(0, 0, 0), std::nullopt, 100), at(0));
  m.place(device_id{0}, at(0));
  m.announce(ready(forward(0, 0, 1), std::nullopt, 90), at(1));
  m.place(device_id{0}, at(1));
  REQUIRE(m.remaining() == std::chrono::microseconds{80});
  REQUIRE(m.fail(forward(0, 0, 0)));
  CHECK(m.remaining() == std::chrono::microseconds{100});
  CHECK(m.next_cost() == std::chrono::microseconds{10});
}

TEST_CASE("a loss is reported once", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.fail(forward(0, 0, 1)));
  CHECK_FALSE(m.fail(forward(0, 0, 1)));
  CHECK_FALSE(m.fail(backward(0, 0, 2)));
  CHECK_FALSE(m.complete(backward(0, 0, 2), at(1)));
}

TEST_CASE("a lost device takes its flights and all later ones, and withdraws those elsewhere", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.complete(forward(0, 0, 0), at(1)));
  const auto loss = m.lose(d0);
  REQUIRE(loss);
  CHECK(units_of(loss->lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(loss->withdraw) == std::vector{backward(0, 0, 2)});
  CHECK(m.flights().empty());
}

TEST_CASE("a lost device leaves earlier flights on other devices alone", "[policy]") {
  auto m = three_flights();
  const auto loss = m.lose(d1);
  REQUIRE(loss);
  CHECK(units_of(loss->lost) == std::vector{backward(0, 0, 2)});
  CHECK(loss->withdraw.empty());
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0), forward(0, 0, 1)});
  CHECK_FALSE(m.lose(d2));
}

TEST_CASE("a loss drops the announced unit and refuses older attempts", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d1), at(0)));
  REQUIRE(m.fail(backward(0, 0, 2)));
  CHECK_FALSE(m.announced());
  CHECK_FALSE(m.announce(ready(backward(0, 0, 2)), at(1)));
  CHECK(m.announce(ready(backward(0, 0, 2, 1)), at(1)));
}

TEST_CASE("each loss needs an attempt that is newer than all before", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.fail(backward(0, 0, 2))->next_attempt == 1);
  fly(m, backward(0, 0, 2, 1), d2);
  CHECK(m.lose(d0)->next_attempt == 2);
  CHECK(m.flights().empty());
  CHECK(m.next_attempt() == 2);
}

TEST_CASE("a task that counts attempts faster than the tracker is still overtaken by a loss", "[policy]") {
  lane_tracker m;
  fly(m, forward(0, 0, 0, 3), d0);
  CHECK(m.fail(forward(0, 0, 0, 3))->next_attempt == 4);
  fly(m, forward(0, 0, 0, 7), d0);
  const auto loss = m.lose(d0);
  CHECK(loss->next_attempt == 8);
  CHECK(units_of(loss->lost) == std::vector{forward(0, 0, 0, 7)});
}

TEST_CASE("a retry that was announced before the loss became known here survives it", "[policy]") {
  auto m = three_flights();
  fly(m, forward(0, 0, 1, 1), d2);
  REQUIRE(m.announce(ready(backward(0, 0, 2, 1), d2), at(3)));
  const auto loss = m.fail(forward(0, 0, 1));
  REQUIRE(loss);
  CHECK(units_of(loss->lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0), forward(0, 0, 1, 1)});
  CHECK(m.announced()->next == backward(0, 0, 2, 1));
  CHECK(m.bound_to() == d2);
}

TEST_CASE("a surviving announcement loses its hint with the last flight on that device", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(forward(0, 0, 1, 1), d1), at(3)));
  REQUIRE(m.fail(forward(0, 0, 1)));
  CHECK(m.announced());
  CHECK(m.bound_to() == std::nullopt);
}

TEST_CASE("a unit announced twice, out of order or before the last was placed is a broken promise", "[policy]") {
  auto m = three_flights();
  CHECK_THROWS_AS(m.announce(ready(backward(0, 0, 2)), at(1)), fault_error);
  CHECK_THROWS_AS(m.announce(ready(forward(0, 0, 0)), at(1)), fault_error);
  REQUIRE(m.announce(ready(backward(0, 0, 1)), at(1)));
  CHECK_THROWS_AS(m.announce(ready(backward(0, 0, 0)), at(1)), fault_error);
}

TEST_CASE("a model that has left announces nothing, but its flights complete", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1)), at(1)));
  m.leave();
  CHECK_FALSE(m.announced());
  CHECK_FALSE(m.announce(ready(backward(0, 0, 0)), at(1)));
  CHECK(m.complete(forward(0, 0, 0), at(2)));
}

// -- waves -----------------------------------------------------------------------------------------------------------

namespace {

unit second(const unit& u) { return in_lane(u, 1); }

/// Of the wave after that of `three_flights`, with all forward units on device 2.
lane_tracker next_wave(const lane_tracker& before) {
  lane_tracker m{&before};
  fly(m, second(forward(0, 0, 0)), d2);
  fly(m, second(forward(0, 0, 1)), d2);
  return m;
}

}  // namespace

TEST_CASE("a backward unit is bound to the device that holds the same visit of the wave before", "[policy]") {
  auto first = three_flights();
  auto m = next_wave(first);
  REQUIRE(m.complete(second(forward(0, 0, 0)), at(1)));
  REQUIRE(m.complete(second(forward(0, 0, 1)), at(1)));
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d1), at(2)));
  CHECK(m.bound_to() == d1);
  REQUIRE(first.complete(backward(0, 0, 2), at(3)));
  m.release_if_unbound(at(3));
  CHECK(m.bound_to() == std::nullopt);
  CHECK(m.available_since() == at(3));
}

TEST_CASE("a unit that is bound by its lane and by the wave before stays bound until both are complete", "[policy]") {
  lane_tracker first;
  fly(first, backward(0, 0, 2), d2);
  auto m = next_wave(first);
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d2), at(2)));
  REQUIRE(first.complete(backward(0, 0, 2), at(3)));
  m.release_if_unbound(at(3));
  CHECK(m.bound_to() == d2);
  REQUIRE(m.complete(second(forward(0, 0, 0)), at(4)));
  REQUIRE(m.complete(second(forward(0, 0, 1)), at(5)));
  CHECK(m.bound_to() == std::nullopt);
  CHECK(m.available_since() == at(5));
}

TEST_CASE("other visits of the wave before bind nothing, nor does any bind a forward unit", "[policy]") {
  auto first = three_flights();
  lane_tracker m{&first};
  REQUIRE(m.announce(ready(second(forward(0, 0, 0)), d0), at(1)));
  CHECK(m.bound_to() == std::nullopt);
  m.place(d2, at(1));
  fly(m, second(forward(0, 0, 1)), d2);
  fly(m, second(backward(0, 0, 2)), d2);
  REQUIRE(m.announce(ready(second(backward(0, 0, 1)), d1), at(2)));
  CHECK(m.bound_to() == std::nullopt);
}

TEST_CASE("a retry of the wave before binds as its first attempt does", "[policy]") {
  lane_tracker first;
  fly(first, backward(0, 0, 2, 1), d1);
  lane_tracker m{&first};
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d1), at(2)));
  CHECK(m.bound_to() == d1);
}

TEST_CASE("a wave that follows a lost unit loses what follows it, and nothing else", "[policy]") {
  lane_tracker m;
  REQUIRE(m.announce(ready(second(forward(0, 0, 1)), std::nullopt, 100), at(0)));
  m.place(d0, at(0));
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), std::nullopt, 90), at(0)));
  m.place(d0, at(0));
  const auto loss = m.follow(second(backward(0, 0, 2)));
  CHECK(units_of(loss.lost) == std::vector{second(backward(0, 0, 2))});
  CHECK(units_of(loss.withdraw) == units_of(loss.lost));
  CHECK(loss.next_attempt == 1);
  CHECK(units_of(m.flights()) == std::vector{second(forward(0, 0, 1))});
  CHECK(m.remaining() == std::chrono::microseconds{90});
  CHECK(m.came_from() == std::nullopt);
}

TEST_CASE("a wave without such a flight loses its announcement, but not where its next unit comes from", "[policy]") {
  lane_tracker m;
  fly(m, second(forward(0, 0, 0)), d0);
  REQUIRE(m.announce(ready(second(forward(0, 0, 1)), std::nullopt, 50), at(1)));
  const auto loss = m.follow(second(backward(0, 0, 2)));
  CHECK(loss.first == second(backward(0, 0, 2)));
  CHECK((loss.lost.empty() && loss.withdraw.empty()));
  CHECK_FALSE(m.announced());
  CHECK_FALSE(m.announce(ready(second(forward(0, 0, 1))), at(2)));
  CHECK(m.announce(ready(second(forward(0, 0, 1, 1))), at(2)));
  CHECK(units_of(m.flights()) == std::vector{second(forward(0, 0, 0))});
  CHECK(m.came_from() == d0);
}

TEST_CASE("the first of a step that is announced again does not wait at a step boundary", "[policy]") {
  lane_tracker m;
  auto last = ready(second(backward(0, 0, 0)));
  last.then_begins_step = true;
  REQUIRE(m.announce(last, at(0)));
  m.place(d0, at(0));
  REQUIRE(m.at_step_boundary());
  REQUIRE(m.announce(ready(second(forward(0, 1, 0))), at(1)));
  m.follow(second(backward(0, 1, 2)));
  CHECK_FALSE(m.at_step_boundary());
}

TEST_CASE("a lane that a lost device and a wave before hit loses all from the earlier unit on, once", "[policy]") {
  const auto lost_from = [](device_id device, const unit& follower) {
    auto m = three_flights();
    return units_of(m.lose(device, follower)->lost);
  };
  CHECK(lost_from(d0, backward(0, 0, 2)) ==
        std::vector{forward(0, 0, 0), forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(lost_from(d1, forward(0, 0, 1)) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(lost_from(d2, backward(0, 0, 2)) == std::vector{backward(0, 0, 2)});
  auto m = three_flights();
  const auto loss = m.lose(d1, forward(0, 0, 1));
  CHECK(units_of(loss->withdraw) == std::vector{forward(0, 0, 1)});
}

}  // namespace lane_tracker_test
