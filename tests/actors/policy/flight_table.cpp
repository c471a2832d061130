#include "actors/policy/flight_table.hpp"

#include "runtime/base/fault.hpp"
#include "tests/actors/policy/units.hpp"
#include "tests/support/shape_graphs.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

using namespace hydra;
using namespace hydra::test;

namespace flight_table_test {

constexpr device_id d0{0};
constexpr device_id d1{1};
constexpr device_id d2{2};

flight_table one_lane() { return flight_table{graphs_of_shape({.shards = 3})}; }

/// Of the first lane.
const lane_row& row(const flight_table& m) { return m.lanes().front(); }

void fly(flight_table& m, const unit& u, device_id d) {
  REQUIRE(m.announce(ready(u), at(0)));
  m.place(m.lane_of(u), d, {});
}

/// Of a model in one lane, which loses no more than that.
model_loss fail(flight_table& m, const unit& u) {
  auto lost = m.fail(u);
  REQUIRE(lost.size() == 1);
  return std::move(lost.front());
}

model_loss lose(flight_table& m, device_id d) {
  auto lost = m.lose(d);
  REQUIRE(lost.size() == 1);
  return std::move(lost.front());
}

/// F_0 and F_1 on device 0, B_2 on device 1, all in flight.
flight_table three_flights() {
  auto m = one_lane();
  fly(m, forward(0, 0, 0), d0);
  fly(m, forward(0, 0, 1), d0);
  fly(m, backward(0, 0, 2), d1);
  return m;
}

TEST_CASE("the chain goes forward up the shards, backward down, then to the next step", "[policy]") {
  auto m = one_lane();
  const auto chain = chain_of(0, 3, 2);
  for (const auto& u : chain) {
    fly(m, u, d0);
  }
  CHECK(units_of(m.flights()) == chain);
}

TEST_CASE("evaluation of a version comes before the training that makes the next one, round by round", "[policy]") {
  auto m = one_lane();
  auto second_round = evaluate(0, 1, 0);
  second_round.first_micro_batch = micro_batch_index{1};
  const std::vector chain{backward(0, 0, 0), evaluate(0, 1, 0), evaluate(0, 1, 2), second_round, forward(0, 1, 0)};
  for (const auto& u : chain) {
    fly(m, u, d0);
  }
  CHECK(units_of(m.flights()) == chain);
}

TEST_CASE("attempts of one visit have the same position", "[policy]") {
  auto m = one_lane();
  fly(m, forward(0, 0, 1), d0);
  CHECK_THROWS_AS(m.announce(ready(forward(0, 0, 1)), at(1)), fault_error);
  fly(m, forward(0, 0, 1, 1), d1);
  REQUIRE(m.flights().size() == 2);
  CHECK(m.flights().front().at == m.flights().back().at);
}

TEST_CASE("a unit that is not in the graph of its model is a broken promise", "[policy]") {
  auto m = one_lane();
  CHECK_THROWS_AS(m.announce(ready(forward(0, 0, 2)), at(0)), fault_error);  // it is part of B_2
  CHECK_THROWS_AS(m.announce(ready(in_lane(forward(0, 0, 0), 1)), at(0)), fault_error);
}

TEST_CASE("a placed unit is a flight until it completes, once", "[policy]") {
  auto m = one_lane();
  fly(m, forward(0, 0, 0), d0);
  CHECK_FALSE(row(m).announced.has_value());
  CHECK(m.complete(forward(0, 0, 0), at(1)).has_value());
  CHECK_FALSE(m.complete(forward(0, 0, 0), at(2)).has_value());
  CHECK(m.flights().empty());
}

TEST_CASE("the hint binds the unit to its device until no flight is left there", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d0), at(5)));
  CHECK(row(m).bound_to() == d0);
  REQUIRE(m.complete(forward(0, 0, 0), at(6)).has_value());
  CHECK(row(m).bound_to() == d0);
  REQUIRE(m.complete(forward(0, 0, 1), at(7)).has_value());
  CHECK(row(m).bound_to() == std::nullopt);
  CHECK(row(m).available == at(7));
}

TEST_CASE("a hint at a device without flight of the model is void from the start", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d2), at(5)));
  CHECK(row(m).bound_to() == std::nullopt);
  CHECK(row(m).available == at(5));
}

TEST_CASE("a completion elsewhere does not touch the hint", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d0), at(5)));
  REQUIRE(m.complete(backward(0, 0, 2), at(6)).has_value());
  CHECK(row(m).bound_to() == d0);
  CHECK(row(m).available == at(5));
}

TEST_CASE("remaining time shrinks by the unit that is placed", "[policy]") {
  auto m = one_lane();
  REQUIRE(m.announce(ready(forward(0, 0, 0), std::nullopt, 100), at(0)));
  CHECK(row(m).remaining == std::chrono::microseconds{100});
  m.place(0, d0, {});
  CHECK(row(m).remaining == std::chrono::microseconds{90});
}

TEST_CASE("a failed unit takes all later flights with it, and no earlier one", "[policy]") {
  auto m = three_flights();
  const auto loss = fail(m, forward(0, 0, 1));
  CHECK(loss.model == model_id{0});
  CHECK(loss.next_attempt == 1);
  CHECK(units_of(loss.lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(loss.withdraw) == std::vector{backward(0, 0, 2)});
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0)});
}

TEST_CASE("a loss restores the remaining time, and returns the next unit", "[policy]") {
  auto m = one_lane();
  m.announce(ready(forward(0, 0, 0), std::nullopt, 100), at(0));
  m.place(0, device_id{0}, at(0));
  m.announce(ready(forward(0, 0, 1), std::nullopt, 90), at(1));
  m.place(0, device_id{0}, at(1));
  REQUIRE(row(m).remaining == std::chrono::microseconds{80});
  fail(m, forward(0, 0, 0));
  CHECK(row(m).remaining == std::chrono::microseconds{100});
  CHECK(row(m).next_cost == std::chrono::microseconds{10});
}

TEST_CASE("a loss is reported once", "[policy]") {
  auto m = three_flights();
  fail(m, forward(0, 0, 1));
  CHECK(m.fail(forward(0, 0, 1)).empty());
  CHECK(m.fail(backward(0, 0, 2)).empty());
  CHECK_FALSE(m.complete(backward(0, 0, 2), at(1)).has_value());
}

TEST_CASE("a lost device takes its flights and all later ones, and withdraws those elsewhere", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.complete(forward(0, 0, 0), at(1)).has_value());
  const auto loss = lose(m, d0);
  CHECK(units_of(loss.lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(loss.withdraw) == std::vector{backward(0, 0, 2)});
  CHECK(m.flights().empty());
}

TEST_CASE("a lost device leaves earlier flights on other devices alone", "[policy]") {
  auto m = three_flights();
  const auto loss = lose(m, d1);
  CHECK(units_of(loss.lost) == std::vector{backward(0, 0, 2)});
  CHECK(loss.withdraw.empty());
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0), forward(0, 0, 1)});
  CHECK(m.lose(d2).empty());
}

TEST_CASE("a loss drops the announced unit and refuses older attempts", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1), d1), at(0)));
  fail(m, backward(0, 0, 2));
  CHECK_FALSE(row(m).announced.has_value());
  CHECK_FALSE(m.announce(ready(backward(0, 0, 2)), at(1)));
  CHECK(m.announce(ready(backward(0, 0, 2, 1)), at(1)));
}

TEST_CASE("each loss needs an attempt that is newer than all before", "[policy]") {
  auto m = three_flights();
  REQUIRE(fail(m, backward(0, 0, 2)).next_attempt == 1);
  fly(m, backward(0, 0, 2, 1), d2);
  CHECK(lose(m, d0).next_attempt == 2);
  CHECK(m.flights().empty());
  CHECK(row(m).next_attempt == 2);
}

TEST_CASE("a task that counts attempts faster than the tracker is still overtaken by a loss", "[policy]") {
  auto m = one_lane();
  fly(m, forward(0, 0, 0, 3), d0);
  CHECK(fail(m, forward(0, 0, 0, 3)).next_attempt == 4);
  fly(m, forward(0, 0, 0, 7), d0);
  const auto loss = lose(m, d0);
  CHECK(loss.next_attempt == 8);
  CHECK(units_of(loss.lost) == std::vector{forward(0, 0, 0, 7)});
}

TEST_CASE("a retry that was announced before the loss became known here survives it", "[policy]") {
  auto m = three_flights();
  fly(m, forward(0, 0, 1, 1), d2);
  REQUIRE(m.announce(ready(backward(0, 0, 2, 1), d2), at(3)));
  const auto loss = fail(m, forward(0, 0, 1));
  CHECK(units_of(loss.lost) == std::vector{forward(0, 0, 1), backward(0, 0, 2)});
  CHECK(units_of(m.flights()) == std::vector{forward(0, 0, 0), forward(0, 0, 1, 1)});
  CHECK(row(m).announced->what == backward(0, 0, 2, 1));
  CHECK(row(m).bound_to() == d2);
}

TEST_CASE("a surviving announcement loses its hint with the last flight on that device", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(forward(0, 0, 1, 1), d1), at(3)));
  fail(m, forward(0, 0, 1));
  CHECK(row(m).announced.has_value());
  CHECK(row(m).bound_to() == std::nullopt);
}

TEST_CASE("a unit announced twice, out of order or before the last was placed is a broken promise", "[policy]") {
  auto m = three_flights();
  CHECK_THROWS_AS(m.announce(ready(backward(0, 0, 2)), at(1)), fault_error);
  CHECK_THROWS_AS(m.announce(ready(forward(0, 0, 0)), at(1)), fault_error);
  REQUIRE(m.announce(ready(backward(0, 0, 1)), at(1)));
  CHECK_THROWS_AS(m.announce(ready(backward(0, 0, 0)), at(1)), fault_error);
}

TEST_CASE("a model that has left has announced nothing, but its flights complete", "[policy]") {
  auto m = three_flights();
  REQUIRE(m.announce(ready(backward(0, 0, 1)), at(1)));
  m.leave();
  CHECK(m.announced() == 0);
  CHECK(m.complete(forward(0, 0, 0), at(2)).has_value());
}

// -- waves -----------------------------------------------------------------------------------------------------------

namespace {

unit second(const unit& u) { return in_lane(u, 1); }

/// A model of three shards in two waves.
flight_table two_waves() { return flight_table{graphs_of_shape({.shards = 3, .micro_batches = 2, .waves = 2})}; }

/// Wave 0 up to B_2, F_0 and F_1 on device 0, B_2 on device 1; of wave 1 F_0 and F_1 on device 2.
flight_table waves_in_flight() {
  auto m = two_waves();
  fly(m, forward(0, 0, 0), d0);
  fly(m, forward(0, 0, 1), d0);
  fly(m, backward(0, 0, 2), d1);
  fly(m, second(forward(0, 0, 0)), d2);
  fly(m, second(forward(0, 0, 1)), d2);
  return m;
}

}  // namespace

TEST_CASE("a backward unit is bound to the device that holds the same visit of the wave before", "[policy]") {
  auto m = waves_in_flight();
  const auto& lane = m.lanes()[1];
  REQUIRE(m.complete(second(forward(0, 0, 0)), at(1)).has_value());
  REQUIRE(m.complete(second(forward(0, 0, 1)), at(1)).has_value());
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d1), at(2)));
  CHECK(lane.bound_to() == d1);
  REQUIRE(m.complete(backward(0, 0, 2), at(3)).has_value());
  CHECK(lane.bound_to() == std::nullopt);
  CHECK(lane.available == at(3));
}

TEST_CASE("a unit that is bound by its lane and by the wave before stays bound until both are complete", "[policy]") {
  auto m = two_waves();
  const auto& lane = m.lanes()[1];
  fly(m, backward(0, 0, 2), d2);
  fly(m, second(forward(0, 0, 0)), d2);
  fly(m, second(forward(0, 0, 1)), d2);
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d2), at(2)));
  REQUIRE(m.complete(backward(0, 0, 2), at(3)).has_value());
  CHECK(lane.bound_to() == d2);
  REQUIRE(m.complete(second(forward(0, 0, 0)), at(4)).has_value());
  REQUIRE(m.complete(second(forward(0, 0, 1)), at(5)).has_value());
  CHECK(lane.bound_to() == std::nullopt);
  CHECK(lane.available == at(5));
}

TEST_CASE("other visits of the wave before bind nothing, nor does any bind a forward unit", "[policy]") {
  auto m = two_waves();
  const auto& lane = m.lanes()[1];
  fly(m, forward(0, 0, 0), d0);
  fly(m, forward(0, 0, 1), d0);
  fly(m, backward(0, 0, 2), d1);
  REQUIRE(m.announce(ready(second(forward(0, 0, 0)), d0), at(1)));
  CHECK(lane.bound_to() == std::nullopt);
  m.place(1, d2, at(1));
  fly(m, second(forward(0, 0, 1)), d2);
  fly(m, second(backward(0, 0, 2)), d2);
  REQUIRE(m.announce(ready(second(backward(0, 0, 1)), d1), at(2)));
  CHECK(lane.bound_to() == std::nullopt);
}

TEST_CASE("the same visit of another step binds nothing", "[policy]") {
  auto m = two_waves();
  fly(m, backward(0, 0, 2), d1);
  REQUIRE(m.announce(ready(second(backward(0, 1, 2)), d1), at(2)));
  CHECK(m.lanes()[1].bound_to() == std::nullopt);
}

TEST_CASE("a retry of the wave before binds as its first attempt does", "[policy]") {
  auto m = two_waves();
  fly(m, backward(0, 0, 2, 1), d1);
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), d1), at(2)));
  CHECK(m.lanes()[1].bound_to() == d1);
}

TEST_CASE("a wave that follows a lost unit loses what follows it, and nothing else", "[policy]") {
  auto m = two_waves();
  fly(m, backward(0, 0, 2), d1);
  REQUIRE(m.announce(ready(second(forward(0, 0, 1)), std::nullopt, 100), at(0)));
  m.place(1, d0, at(0));
  REQUIRE(m.announce(ready(second(backward(0, 0, 2)), std::nullopt, 90), at(0)));
  m.place(1, d0, at(0));
  const auto lost = m.fail(backward(0, 0, 2));
  REQUIRE(lost.size() == 2);
  CHECK(units_of(lost[1].lost) == std::vector{second(backward(0, 0, 2))});
  CHECK(units_of(lost[1].withdraw) == units_of(lost[1].lost));
  CHECK(lost[1].next_attempt == 1);
  CHECK(units_of(m.flights()) == std::vector{second(forward(0, 0, 1))});
  CHECK(m.lanes()[1].remaining == std::chrono::microseconds{90});
  CHECK(m.lanes()[1].came_from == std::nullopt);
}

TEST_CASE("a wave without such a flight loses its announcement, but not where its next unit comes from", "[policy]") {
  auto m = two_waves();
  fly(m, backward(0, 0, 2), d1);
  fly(m, second(forward(0, 0, 0)), d0);
  REQUIRE(m.announce(ready(second(forward(0, 0, 1)), std::nullopt, 50), at(1)));
  const auto lost = m.fail(backward(0, 0, 2));
  REQUIRE(lost.size() == 2);
  CHECK(lost[1].first == second(backward(0, 0, 2)));
  CHECK((lost[1].lost.empty() && lost[1].withdraw.empty()));
  CHECK(m.announced() == 0);
  CHECK_FALSE(m.announce(ready(second(forward(0, 0, 1))), at(2)));
  CHECK(m.announce(ready(second(forward(0, 0, 1, 1))), at(2)));
  CHECK(units_of(m.flights()) == std::vector{second(forward(0, 0, 0))});
  CHECK(m.lanes()[1].came_from == d0);
}

TEST_CASE("the first of a step that is announced again does not wait at a step boundary", "[policy]") {
  auto m = two_waves();
  fly(m, backward(0, 1, 2), d1);
  fly(m, second(backward(0, 0, 0)), d0);
  REQUIRE(m.lanes()[1].begins_step);
  REQUIRE(m.announce(ready(second(forward(0, 1, 0))), at(1)));
  REQUIRE(m.fail(backward(0, 1, 2)).size() == 2);
  CHECK_FALSE(m.lanes()[1].begins_step);
}

TEST_CASE("a lane that a lost device and a wave before hit loses all from the earlier unit on, once", "[policy]") {
  /// Wave 0 has B_2 on device 0; of wave 1 F_1, B_2 and B_1 are on these.
  const auto lost_in_wave_1 = [](device_id f1, device_id b2, device_id b1) {
    auto m = two_waves();
    fly(m, backward(0, 0, 2), d0);
    fly(m, second(forward(0, 0, 1)), f1);
    fly(m, second(backward(0, 0, 2)), b2);
    fly(m, second(backward(0, 0, 1)), b1);
    auto lost = m.lose(d0);
    REQUIRE(lost.size() == 2);
    return std::move(lost.back());
  };
  const auto f1 = second(forward(0, 0, 1));
  const auto b2 = second(backward(0, 0, 2));
  const auto b1 = second(backward(0, 0, 1));
  CHECK(units_of(lost_in_wave_1(d0, d1, d1).lost) == std::vector{f1, b2, b1});
  CHECK(units_of(lost_in_wave_1(d1, d1, d0).lost) == std::vector{b2, b1});
  CHECK(units_of(lost_in_wave_1(d1, d1, d0).withdraw) == std::vector{b2});
  CHECK(units_of(lost_in_wave_1(d1, d1, d2).lost) == std::vector{b2, b1});
}

TEST_CASE("what adds the terms of pieces follows all of them, whichever lane is the first", "[policy]") {
  flight_table m{graphs_of_shape({.shards = 4}, byte_count{100}, {{.first = 1, .count = 2}})};
  const auto f1 = forward(0, 0, 1), b3 = backward(0, 0, 3);
  auto f2 = forward(0, 0, 2);
  f2.piece = piece_index{1};
  fly(m, forward(0, 0, 0), d0);
  REQUIRE(m.complete(forward(0, 0, 0), at(1)).has_value());
  fly(m, f1, d0);
  fly(m, f2, d1);
  REQUIRE(m.complete(f1, at(2)).has_value());
  REQUIRE(m.announce(ready(b3, d1), at(2)));
  CHECK(m.lanes()[0].bound_to() == d1);
  CHECK_FALSE(m.is_landing(0));
  REQUIRE(m.computed(f2));
  CHECK(m.is_landing(0));
  m.place(0, d1, at(3));
  const auto lost = m.fail(f2);
  REQUIRE(lost.size() == 2);
  CHECK(units_of(lost[0].lost) == std::vector{f2});
  CHECK(lost[0].withdraw.empty());
  CHECK(units_of(lost[1].lost) == std::vector{b3});
  CHECK(units_of(lost[1].withdraw) == std::vector{b3});
  CHECK(m.flights().empty());
}

TEST_CASE("other replicas of a lost unit lose nothing", "[policy]") {
  flight_table m{graphs_of_shape({.shards = 3, .micro_batches = 2, .replicas = 2})};
  fly(m, backward(0, 0, 2), d0);
  fly(m, in_lane(backward(0, 0, 2), 0, 1), d1);
  CHECK(m.fail(backward(0, 0, 2)).size() == 1);
  CHECK(m.flights().size() == 1);
}

}  // namespace flight_table_test
