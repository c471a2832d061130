#include "actors/model/task_tracker.hpp"

#include "tests/support/plain_cursor.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <random>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr device_id d0{0}, d1{1};

batch_range minibatch(std::uint32_t step) { return {.step = step_index{step}, .first = {}}; }

/// Micro-batches [first, first + n) of the evaluation after so many steps.
batch_range round_of(std::uint32_t steps, std::uint32_t first, std::uint32_t n) {
  return {pass_kind::evaluation, step_index{steps}, micro_batch_index{first}, n};
}

cursor units_of_two(std::uint32_t steps = 3, std::uint32_t stepped = 0) {
  return plain_cursor(model_id{4}, {.shards = 2, .micro_batches = 1}, steps, {}, stepped);
}

/// Two shards: F_0, B_1, B_0. The minibatch of step 0 is in host memory.
task_tracker two_shards(std::uint32_t steps = 3, bool observed = false) {
  task_tracker tracker(units_of_two(steps), observed);
  tracker.batch_at_home(minibatch(0));
  return tracker;
}

/// The same, but the first shard is stepped on the device, and minibatch 1 is there, too.
task_tracker stepped_on_device(bool observed = false) {
  task_tracker tracker(units_of_two(3, 1), observed);
  tracker.follow_on_device(true);
  tracker.batch_at_home(minibatch(0));
  tracker.batch_at_home(minibatch(1));
  return tracker;
}

/// Two steps, and after each an evaluation: micro-batches 0 and 1, then 2.
task_tracker evaluated(bool observed = false) {
  const evaluation_schedule schedule{.every = 1, .range = {.micro_batches = 3, .round = 2}};
  return {plain_cursor(model_id{4}, {.shards = 2, .micro_batches = 1}, 2, schedule), observed};
}

/// The batches that are wanted now.
std::vector<batch_range> wanted(task_tracker& tracker) {
  std::vector<batch_range> all;
  while (const auto range = tracker.wanted_batch()) {
    all.push_back(*range);
  }
  return all;
}

std::string text(const std::optional<announcement>& a) {
  if (!a) {
    return "nothing";
  }
  const auto unit_text = to_string(a->what).substr(8);
  return a->after ? fmt::format("{} after {}", unit_text, a->after->value) : unit_text;
}

/// Announces and places the next unit.
unit place(task_tracker& tracker, device_id device = d0) {
  const auto next = tracker.announce();
  REQUIRE(next);
  REQUIRE(tracker.placed(next->what, device));
  return next->what;
}

/// Of the first step of two shards.
unit unit_of_b0() { return units_of_two().unit_at({.step = 0, .index = 2}, 0); }

void complete_step(task_tracker& tracker) {
  for (int i = 0; i < 3; ++i) {
    REQUIRE(tracker.completed(place(tracker)));
  }
}

void bring_versions(task_tracker& tracker, std::uint32_t version) {
  for (const std::uint32_t s : {0u, 1u}) {
    tracker.version_at_home(shard_index{s}, version_index{version});
  }
}

}  // namespace

// -- announcements ----------------------------------------------------------------------------------------------------

TEST_CASE("one unit is announced at a time, once") {
  auto tracker = two_shards();
  CHECK(text(tracker.announce()) == "step 0 forward 0");
  CHECK(text(tracker.announce()) == "nothing");
}

TEST_CASE("the successor of a placed unit is announced for its device, until the unit has completed") {
  auto tracker = two_shards();
  const auto f0 = place(tracker, d1);
  CHECK(text(tracker.announce()) == "step 0 backward 1 after 1");

  auto later = two_shards();
  later.completed(place(later, d1));
  CHECK(text(later.announce()) == "step 0 backward 1");
  CHECK(f0.attempt == 0);
}

TEST_CASE("a successor goes after the last flight, not after an earlier one elsewhere") {
  auto tracker = two_shards();
  place(tracker, d0);
  place(tracker, d1);
  CHECK(text(tracker.announce()) == "step 0 backward 0 after 1");
}

TEST_CASE("a unit waits for the minibatch of its step") {
  task_tracker tracker(units_of_two(2), false);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.batch_at_home(minibatch(0));
  complete_step(tracker);
  bring_versions(tracker, 1);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.batch_at_home(minibatch(1));
  CHECK(text(tracker.announce()) == "step 1 forward 0");
}

TEST_CASE("the next step starts when shard 0 has its next version, for any device") {
  auto tracker = two_shards();
  tracker.batch_at_home(minibatch(1));
  place(tracker), place(tracker);
  const auto b0 = place(tracker);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.completed(b0);
  tracker.version_at_home(shard_index{1}, version_index{1});
  CHECK(text(tracker.announce()) == "nothing");
  tracker.version_at_home(shard_index{0}, version_index{1});
  CHECK_FALSE(text(tracker.announce()) == "nothing");
}

TEST_CASE("where a device steps shard 0 the next step follows the last unit on its device") {
  auto tracker = stepped_on_device();
  place(tracker), place(tracker);
  CHECK(text(tracker.announce()) == "step 0 backward 0 after 0");
  REQUIRE(tracker.placed(unit_of_b0(), d1));
  CHECK(text(tracker.announce()) == "step 1 forward 0 after 1");
}

TEST_CASE("a step that follows on the device goes back with the unit that was to make its version") {
  auto tracker = stepped_on_device();
  place(tracker), place(tracker);
  const auto b0 = place(tracker);
  place(tracker);
  REQUIRE(tracker.lost(b0, 1));
  CHECK(text(tracker.announce()) == "step 0 backward 0 attempt 1 after 0");
}

TEST_CASE("a step that has to be acknowledged does not follow on the device") {
  auto tracker = stepped_on_device(true);
  place(tracker), place(tracker), place(tracker);
  CHECK(text(tracker.announce()) == "nothing");
}

TEST_CASE("a unit waits for the version of its own shard") {
  auto tracker = two_shards();
  tracker.batch_at_home(minibatch(1));
  complete_step(tracker);
  tracker.version_at_home(shard_index{0}, version_index{1});
  place(tracker);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.version_at_home(shard_index{1}, version_index{1});
  CHECK(text(tracker.announce()) == "step 1 backward 1 after 0");
}

TEST_CASE("an observed step has to be acknowledged before the next one starts") {
  auto tracker = two_shards(3, true);
  tracker.batch_at_home(minibatch(1));
  complete_step(tracker);
  bring_versions(tracker, 1);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.acknowledged(step_index{0});
  CHECK(text(tracker.announce()) == "step 1 forward 0");
}

TEST_CASE("a model that is given up announces nothing more and is drained when its flights are over") {
  auto tracker = two_shards();
  const auto f0 = place(tracker);
  tracker.give_up();
  CHECK(text(tracker.announce()) == "nothing");
  CHECK_FALSE(tracker.wanted_batch());
  CHECK_FALSE(tracker.drained());
  CHECK(tracker.completed(f0));
  CHECK(tracker.drained());
}

// -- minibatches ------------------------------------------------------------------------------------------------------

TEST_CASE("minibatches are wanted once each, one step ahead of the one that has not completed") {
  auto tracker = two_shards(3);
  CHECK(wanted(tracker) == std::vector{minibatch(0), minibatch(1)});
  complete_step(tracker);
  CHECK(wanted(tracker) == std::vector{minibatch(2)});
  tracker.batch_at_home(minibatch(1));
  bring_versions(tracker, 1);
  complete_step(tracker);
  CHECK_FALSE(tracker.wanted_batch());  // there is no step 3
}

// -- losses -----------------------------------------------------------------------------------------------------------

TEST_CASE("a lost unit takes the later flights with it and is announced again with the next attempt") {
  auto tracker = two_shards();
  const auto f0 = place(tracker);
  place(tracker);
  CHECK(tracker.lost(f0, 1));
  CHECK(tracker.drained());
  CHECK(text(tracker.announce()) == "step 0 forward 0 attempt 1");
}

TEST_CASE("a lost successor leaves its predecessor in flight") {
  auto tracker = two_shards();
  const auto f0 = place(tracker, d1);
  const auto b1 = place(tracker, d1);
  CHECK(tracker.lost(b1, 1));
  CHECK(text(tracker.announce()) == "step 0 backward 1 attempt 1 after 1");
  CHECK(tracker.completed(f0));
}

TEST_CASE("an announcement of an older attempt than a loss is void") {
  auto tracker = two_shards();
  const auto f0 = place(tracker);
  const auto stale = tracker.announce();
  CHECK(tracker.lost(f0, 1));
  CHECK(text(tracker.announce()) == "step 0 forward 0 attempt 1");
  CHECK_FALSE(tracker.placed(stale->what, d0));
}

TEST_CASE("the loss of an unknown unit changes nothing but the attempt") {
  auto tracker = two_shards();
  const auto f0 = place(tracker);
  auto stranger = f0;
  stranger.step = step_index{2};
  CHECK_FALSE(tracker.lost(stranger, 3));
  CHECK(tracker.completed(f0));
  CHECK(text(tracker.announce()) == "step 0 backward 1 attempt 3");
}

TEST_CASE("late messages of a lost attempt are refused") {
  auto tracker = two_shards();
  const auto old = place(tracker);
  tracker.lost(old, 1);
  const auto f0 = place(tracker);
  CHECK_FALSE(tracker.completed(old));
  CHECK_FALSE(tracker.lost(old, 1));
  CHECK(tracker.completed(f0));
  CHECK_FALSE(tracker.completed(f0));  // nor is a second completion accepted
}

TEST_CASE("only the announced unit can be placed") {
  auto tracker = two_shards();
  auto next = tracker.announce()->what;
  next.shard = shard_index{1};
  CHECK_FALSE(tracker.placed(next, d0));
  CHECK(tracker.drained());
  next.shard = shard_index{0};
  CHECK(tracker.placed(next, d0));
  CHECK_FALSE(tracker.drained());
}

// -- the end ----------------------------------------------------------------------------------------------------------

TEST_CASE("a model is finished when its last step has completed and all shards have the last version") {
  auto tracker = two_shards(1);
  complete_step(tracker);
  CHECK(tracker.completed_steps() == 1);
  CHECK_FALSE(tracker.finished());
  tracker.version_at_home(shard_index{0}, version_index{1});
  CHECK_FALSE(tracker.finished());
  tracker.version_at_home(shard_index{1}, version_index{1});
  CHECK(tracker.finished());
  CHECK(text(tracker.announce()) == "nothing");
}

TEST_CASE("a stopped model ends after the given step, never after more than planned") {
  auto tracker = two_shards(3, true);
  tracker.batch_at_home(minibatch(1));
  complete_step(tracker);
  bring_versions(tracker, 1);
  tracker.stop_after(1);
  tracker.acknowledged(step_index{0});
  CHECK(text(tracker.announce()) == "nothing");
  CHECK(tracker.finished());

  auto other = two_shards(3);
  other.stop_after(9);
  CHECK(other.units().steps() == 3);
}

// -- evaluation -------------------------------------------------------------------------------------------------------

TEST_CASE("an evaluation goes through all shards with each range of micro-batches, before the next step") {
  auto tracker = evaluated();
  std::string order;
  while (!tracker.finished()) {
    for (const auto& range : wanted(tracker)) {
      tracker.batch_at_home(range);
    }
    const auto u = place(tracker);
    order +=
        to_string(u.way).substr(0, 1) + std::to_string(u.shard.value) + "." + std::to_string(u.micro_batches) + " ";
    tracker.completed(u);
    if (u.way == direction::backward) {
      tracker.version_at_home(u.shard, u.step.next());
    }
  }
  const std::string step = "f0.1 b1.1 b0.1 ";
  const std::string evaluation = "e0.2 e1.2 e0.1 e1.1 ";
  CHECK(order == step + evaluation + step + evaluation);
}

TEST_CASE("an evaluation unit waits for its range and for the version of its shard") {
  auto tracker = evaluated();
  wanted(tracker);
  tracker.batch_at_home(minibatch(0));
  complete_step(tracker);
  bring_versions(tracker, 1);
  CHECK(text(tracker.announce()) == "nothing");
  tracker.batch_at_home(round_of(1, 0, 2));
  CHECK(text(tracker.announce()) == "step 1 evaluate 0");
}

TEST_CASE("ranges of an evaluation are wanted a step ahead, and no more than two are open") {
  auto tracker = evaluated();
  CHECK(wanted(tracker) == std::vector{minibatch(0), minibatch(1), round_of(1, 0, 2), round_of(1, 2, 1)});
  tracker.batch_at_home(minibatch(0));
  tracker.batch_at_home(round_of(1, 0, 2));
  complete_step(tracker);
  CHECK(wanted(tracker).empty());
  bring_versions(tracker, 1);
  tracker.completed(place(tracker));
  CHECK(wanted(tracker).empty());
  tracker.completed(place(tracker));
  CHECK(wanted(tracker) == std::vector{round_of(2, 0, 2)});
}

TEST_CASE(
    "a model that may be stopped wants its evaluation when the step is acknowledged, and is evaluated at its end") {
  const evaluation_schedule schedule{.every = 2, .range = {.micro_batches = 1, .round = 1}};
  task_tracker tracker(plain_cursor(model_id{4}, {.shards = 2, .micro_batches = 1}, 9, schedule), true);
  CHECK(wanted(tracker) == std::vector{minibatch(0), minibatch(1)});
  tracker.batch_at_home(minibatch(0));
  complete_step(tracker);
  bring_versions(tracker, 1);
  CHECK(wanted(tracker) == std::vector{minibatch(2)});
  tracker.stop_after(1);
  tracker.acknowledged(step_index{0});
  CHECK_FALSE(tracker.finished());
  CHECK(wanted(tracker) == std::vector{round_of(1, 0, 1)});
  tracker.batch_at_home(round_of(1, 0, 1));
  tracker.completed(place(tracker));
  tracker.completed(place(tracker));
  CHECK(tracker.finished());
}

TEST_CASE("with random losses every unit completes in its order and the model finishes") {
  std::mt19937 random(2);
  for (int run = 0; run < 200; ++run) {
    const evaluation_schedule schedule{.every = 1, .range = {.micro_batches = 3, .round = 2}};
    task_tracker tracker(plain_cursor(model_id{}, {.shards = 3, .micro_batches = 1}, 2, schedule), false);
    std::vector<unit> flights;
    auto expected = tracker.units().begin_of(0, 0);
    std::uint32_t attempt = 0;
    for (int losses = 6; !tracker.finished();) {
      for (const auto& range : wanted(tracker)) {
        tracker.batch_at_home(range);
      }
      if (const auto next = tracker.announce(); next && tracker.placed(next->what, d0)) {
        flights.push_back(next->what);
      } else if (losses > 0 && random() % 3 == 0) {
        const auto i = random() % flights.size();
        REQUIRE(tracker.lost(flights[i], ++attempt));
        flights.resize(i);
        --losses;
      } else {
        REQUIRE(tracker.completed(flights.front()));
        REQUIRE(tracker.units().position_of(flights.front()) == expected);
        expected = tracker.units().next(expected);
        if (flights.front().way == direction::backward) {
          tracker.version_at_home(flights.front().shard, flights.front().step.next());
        }
        flights.erase(flights.begin());
      }
    }
    CHECK(tracker.units().at_end(expected));
  }
}

// -- resuming ---------------------------------------------------------------------------------------------------------

TEST_CASE("a tracker that starts inside a step asks for its batch and announces its next unit") {
  task_tracker tracker(units_of_two(), false);
  tracker.begin_at({{.step = 1, .index = 2}}, 1, {version_index{1}, version_index{2}});
  CHECK(wanted(tracker) == std::vector{minibatch(1), minibatch(2)});
  tracker.batch_at_home(minibatch(1));
  const auto next = tracker.announce();
  REQUIRE(next);
  CHECK(text(next) == "step 1 backward 0");
  CHECK(tracker.placed(next->what, d0));
  CHECK(tracker.completed(next->what));
  CHECK(tracker.completed_steps() == 2);
}

TEST_CASE("a tracker that starts at a step that was observed waits until that is acknowledged again") {
  task_tracker tracker(units_of_two(), true);
  tracker.begin_at({{.step = 1}}, 0, {version_index{1}, version_index{1}});
  tracker.batch_at_home(minibatch(1));
  CHECK(text(tracker.announce()) == "nothing");
  tracker.acknowledged(step_index{0});
  CHECK(text(tracker.announce()) == "step 1 forward 0");
}

TEST_CASE("a tracker that starts at the end is finished") {
  task_tracker tracker(units_of_two(), false);
  tracker.begin_at({{.step = 3}}, 3, {version_index{3}, version_index{3}});
  CHECK(wanted(tracker).empty());
  CHECK(text(tracker.announce()) == "nothing");
  CHECK(tracker.finished());
}

TEST_CASE("an evaluation that was not complete is read and announced from its start") {
  auto tracker = evaluated();
  tracker.begin_at({tracker.units().begin_of(1, 0)}, 1, {version_index{1}, version_index{1}});
  CHECK(wanted(tracker) == std::vector{minibatch(1), round_of(1, 0, 2), round_of(1, 2, 1)});
  tracker.batch_at_home(round_of(1, 0, 2));
  CHECK(text(tracker.announce()) == "step 1 evaluate 0");
}

// -- several lanes ----------------------------------------------------------------------------------------------------

namespace {

/// Two replicas of one micro-batch each; after step 1 an evaluation of three rounds, of which the second replica visits
/// one.
task_tracker two_replicas() {
  const step_shape shape{.shards = 2, .micro_batches = 2, .replicas = 2};
  const evaluation_schedule schedule{.every = 1, .range = {.micro_batches = 3, .round = 1}};
  task_tracker tracker(plain_cursor(model_id{4}, shape, 2, schedule), false);
  for (std::uint32_t step = 0; step < 2; ++step) {
    tracker.batch_at_home({.step = step_index{step}, .first = {}, .micro_batches = 2});
  }
  return tracker;
}

/// Places and completes announced units of one replica until there is none.
std::string run(task_tracker& tracker, std::vector<unit>& placed, std::uint32_t replica) {
  std::string units;
  for (auto next = placed.begin(); next != placed.end();) {
    if (next->replica.value != replica) {
      ++next;
      continue;
    }
    REQUIRE(tracker.completed(*next));
    units += (units.empty() ? "" : " ") + to_string(next->way).substr(0, 1) + std::to_string(next->shard.value);
    placed.erase(next);
    while (const auto more = tracker.announce()) {
      REQUIRE(tracker.placed(more->what, d0));
      placed.push_back(more->what);
    }
    next = placed.begin();
  }
  return units;
}

std::vector<unit> place_all(task_tracker& tracker) {
  std::vector<unit> placed;
  while (const auto next = tracker.announce()) {
    REQUIRE(tracker.placed(next->what, d0));
    placed.push_back(next->what);
  }
  return placed;
}

}  // namespace

TEST_CASE("the lanes of a step are announced together, and each unit after the one before it in its lane") {
  auto tracker = two_replicas();
  CHECK(text(tracker.announce()) == "step 0 forward 0");
  const auto other = tracker.announce();
  REQUIRE(other);
  CHECK(to_string(other->what) == "model 4 replica 1 step 0 forward 0 from micro-batch 1");
  CHECK(text(tracker.announce()) == "nothing");
  REQUIRE(tracker.placed(other->what, d1));
  CHECK(to_string(tracker.announce()->what) == "model 4 replica 1 step 0 backward 1 from micro-batch 1");
}

TEST_CASE("a step is complete when all its lanes are, and a checkpoint knows how far each is") {
  auto tracker = two_replicas();
  auto placed = place_all(tracker);
  CHECK(run(tracker, placed, 1) == "f0 b1 b0");
  CHECK(tracker.completed_steps() == 0);
  CHECK(tracker.saved_position() == step_position{0, {0, 3}});
  REQUIRE(tracker.completed(placed.front()));
  CHECK(tracker.saved_position() == step_position{0, {1, 3}});
  placed.erase(placed.begin());
  CHECK(run(tracker, placed, 0) == "b1 b0");
  CHECK(tracker.completed_steps() == 1);
  CHECK(tracker.saved_position() == step_position{1, {0, 0}});
}

TEST_CASE("a unit that is lost takes the later ones of its lane with it, no other lane's") {
  auto tracker = two_replicas();
  const auto placed = place_all(tracker);
  const auto first = std::ranges::find(placed, replica_id{1}, &unit::replica);
  CHECK(tracker.lost(*first, 1));
  CHECK(tracker.saved_position() == step_position{0, {0, 0}});
  const auto again = tracker.announce();
  REQUIRE(again);
  CHECK(to_string(again->what) == "model 4 replica 1 step 0 forward 0 from micro-batch 1 attempt 1");
  CHECK(text(tracker.announce()) == "nothing");
  for (const auto& u : placed) {
    CHECK(tracker.completed(u) == (u.replica.value == 0));
  }
}

TEST_CASE("rounds of an evaluation are dealt to the lanes, and no lane trains before the last of them has ended") {
  auto tracker = two_replicas();
  auto placed = place_all(tracker);
  run(tracker, placed, 0);
  run(tracker, placed, 1);
  bring_versions(tracker, 1);
  CHECK(wanted(tracker).size() == 5);  // of two steps; three rounds: one more than lanes
  for (std::uint32_t round = 0; round < 3; ++round) {
    tracker.batch_at_home(round_of(1, round, 1));
  }
  placed = place_all(tracker);
  CHECK(run(tracker, placed, 1) == "e0 e1");
  CHECK(tracker.saved_position() == step_position{1, {0, 0}});
  CHECK(run(tracker, placed, 0) == "e0 e1 e0 e1 f0 b1 b0");
  CHECK(run(tracker, placed, 1) == "f0 b1 b0");
  CHECK(tracker.completed_steps() == 2);
}

TEST_CASE("lanes that were saved at different units continue there") {
  auto tracker = two_replicas();
  tracker.begin_at({{.step = 0, .index = 1}, tracker.units().begin_of(1, 1)}, 0, {version_index{0}, version_index{0}});
  CHECK(tracker.completed_steps() == 0);
  CHECK(tracker.saved_position() == step_position{0, {1, 3}});
  CHECK(text(tracker.announce()) == "step 0 backward 1");
  CHECK(text(tracker.announce()) == "nothing");  // the other one waits for the next version
}

TEST_CASE("a lane that waits for the next evaluation does not bring back the one before its step") {
  auto tracker = two_replicas();
  tracker.begin_at({{.step = 1, .index = 1}, tracker.units().begin_of(2, 1)}, 1, {version_index{1}, version_index{1}});
  CHECK(wanted(tracker) == std::vector{batch_range{.step = step_index{1}, .first = {}, .micro_batches = 2},
                                       round_of(2, 0, 1), round_of(2, 1, 1), round_of(2, 2, 1)});
}

TEST_CASE("if one lane has gone on after an evaluation that was held, the others need no release") {
  auto tracker = two_replicas();
  tracker.hold_evaluations(true);
  tracker.begin_at({{.step = 1}, {.step = 1, .index = 1, .lane = 1}}, 1, {version_index{1}, version_index{1}});
  CHECK(text(tracker.announce()) == "step 1 forward 0");
}

// -- waves ------------------------------------------------------------------------------------------------------------

namespace {

/// One replica of two waves of one micro-batch each, of two shards.
task_tracker two_waves() {
  const step_shape shape{.shards = 2, .micro_batches = 2, .waves = 2};
  task_tracker tracker(plain_cursor(model_id{4}, shape, 2), false);
  tracker.batch_at_home({.step = {}, .first = {}, .micro_batches = 2});
  return tracker;
}

}  // namespace

TEST_CASE("a backward unit is announced when the same visit of the wave before is in flight on its device") {
  auto tracker = two_waves();
  const auto f0 = place(tracker, d0);
  const auto f0_of_second = tracker.announce();  // both lanes start together; the first lane's B_1 is bound to d0
  REQUIRE(f0_of_second);
  CHECK(text(f0_of_second) == "step 0 backward 1 after 0");
  const auto second = place(tracker, d1);
  CHECK(text(tracker.announce()) == "nothing");   // wave 0: announced; wave 1: B_1 of wave 0 is not placed
  REQUIRE(tracker.placed(f0_of_second->what, d0));
  CHECK(text(tracker.announce()) == "step 0 backward 0 after 0");
  CHECK(text(tracker.announce()) == "nothing");   // F_0 of wave 1 is on d1, B_1 of wave 0 on d0
  REQUIRE(tracker.completed(second));
  CHECK(to_string(tracker.announce()->what) == "model 4 wave 1 step 0 backward 1 from micro-batch 1");
  CHECK(f0.wave.value == 0);
}

TEST_CASE("pieces are announced together, what reads them waits for all, and so does the next step") {
  task_tracker tracker(plain_cursor(model_id{4}, {.shards = 3}, 2, {}, 0, {{.first = 0, .count = 2}}), false);
  tracker.batch_at_home(minibatch(0));
  tracker.batch_at_home(minibatch(1));
  const auto f0 = place(tracker, d0), f1 = place(tracker, d1);
  CHECK(f0.piece.value == 0);
  CHECK(f1.piece.value == 1);
  CHECK(text(tracker.announce()) == "nothing");  // they are on two devices
  REQUIRE(tracker.completed(f0));
  const auto b2 = tracker.announce();
  CHECK(text(b2) == "step 0 backward 2 after 1");
  REQUIRE(tracker.placed(b2->what, d1));
  REQUIRE(tracker.completed(f1));
  REQUIRE(tracker.completed(b2->what));
  const auto b0 = place(tracker, d0), b1 = place(tracker, d1);
  CHECK(b0.shard.value == 0);
  CHECK(b1.shard.value == 1);
  REQUIRE(tracker.completed(b1));
  for (const std::uint32_t s : {1, 2}) tracker.version_at_home(shard_index{s}, version_index{1});
  CHECK(text(tracker.announce()) == "nothing");
  REQUIRE(tracker.completed(b0));
  tracker.version_at_home(shard_index{0}, version_index{1});
  CHECK(text(tracker.announce()) == "step 1 forward 0");
  CHECK(text(tracker.announce()) == "step 1 forward 1");
}

TEST_CASE("a backward unit whose wave before has completed is bound to no device") {
  auto tracker = two_waves();
  const auto first = place(tracker, d0);
  const auto b1 = tracker.announce()->what;
  const auto second = place(tracker, d1);
  REQUIRE(tracker.placed(b1, d0));
  REQUIRE(tracker.completed(first));
  REQUIRE(tracker.completed(second));
  REQUIRE(tracker.announce()->what.wave.value == 0);   // B_0
  const auto bound = tracker.announce();
  REQUIRE(bound);
  CHECK(bound->what.wave.value == 1);
  CHECK(bound->after == d0);
  REQUIRE(tracker.completed(b1));
  CHECK(tracker.lost(bound->what, 1) == false);        // not placed: only the attempt grows
  const auto again = tracker.announce();
  REQUIRE(again);
  CHECK(again->what.attempt == 1);
  CHECK_FALSE(again->after);
}
