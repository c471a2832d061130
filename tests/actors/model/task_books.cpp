#include "actors/model/task_books.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <random>
#include <vector>

using namespace hydra;

namespace {

constexpr device_id d0{0}, d1{1};

batch_range minibatch(std::uint32_t step) { return {.step = step_index{step}, .first = {}}; }

/// Micro-batches [first, first + n) of the evaluation after so many steps.
batch_range round_of(std::uint32_t steps, std::uint32_t first, std::uint32_t n) {
  return {pass_kind::evaluation, step_index{steps}, micro_batch_index{first}, n};
}

/// Two shards: F_0, B_1, B_0. The minibatch of step 0 is at home.
task_books two_shards(std::uint32_t steps = 3, bool observed = false) {
  task_books books(cursor(model_id{4}, 2, steps, 1), 2, observed);
  books.batch_at_home(minibatch(0));
  return books;
}

/// Two steps, and after each an evaluation: micro-batches 0 and 1, then 2.
task_books evaluated(bool observed = false) {
  cursor units(model_id{4}, 2, 2, 1);
  units.evaluate({.every = 1, .range = {.micro_batches = 3, .round = 2}});
  return {units, 2, observed};
}

/// The batches that are wanted now.
std::vector<batch_range> wanted(task_books& books) {
  std::vector<batch_range> all;
  while (const auto range = books.wanted_batch()) {
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
unit place(task_books& books, device_id device = d0) {
  const auto next = books.announce();
  REQUIRE(next);
  REQUIRE(books.placed(next->what, device));
  return next->what;
}

/// Of the first step of two shards.
unit unit_of_b0() { return cursor(model_id{4}, 2, 3, 1).unit_at({0, 2}, 0); }

void complete_step(task_books& books) {
  for (int i = 0; i < 3; ++i) {
    REQUIRE(books.completed(place(books)));
  }
}

void bring_versions(task_books& books, std::uint32_t version) {
  for (const std::uint32_t s : {0u, 1u}) {
    books.version_at_home(shard_index{s}, version_index{version});
  }
}

}  // namespace

// -- announcements --------------------------------------------------------------------------------------------------------

TEST_CASE("one unit is announced at a time, once") {
  auto books = two_shards();
  CHECK(text(books.announce()) == "step 0 forward 0");
  CHECK(text(books.announce()) == "nothing");
}

TEST_CASE("the successor of a placed unit is announced for its device, until the unit has completed") {
  auto books = two_shards();
  const auto f0 = place(books, d1);
  CHECK(text(books.announce()) == "step 0 backward 1 after 1");

  auto later = two_shards();
  later.completed(place(later, d1));
  CHECK(text(later.announce()) == "step 0 backward 1");
  CHECK(f0.attempt == 0);
}

TEST_CASE("a successor goes after the last flight, not after an earlier one elsewhere") {
  auto books = two_shards();
  place(books, d0);
  place(books, d1);
  CHECK(text(books.announce()) == "step 0 backward 0 after 1");
}

TEST_CASE("a unit waits for the minibatch of its step") {
  task_books books(cursor(model_id{}, 2, 2, 1), 2, false);
  CHECK(text(books.announce()) == "nothing");
  books.batch_at_home(minibatch(0));
  complete_step(books);
  bring_versions(books, 1);
  CHECK(text(books.announce()) == "nothing");
  books.batch_at_home(minibatch(1));
  CHECK(text(books.announce()) == "step 1 forward 0");
}

TEST_CASE("the next step begins when shard 0 has its next version, for any device") {
  auto books = two_shards();
  books.batch_at_home(minibatch(1));
  place(books), place(books);
  const auto b0 = place(books);
  CHECK(text(books.announce()) == "nothing");
  books.completed(b0);
  books.version_at_home(shard_index{1}, version_index{1});
  CHECK(text(books.announce()) == "nothing");
  books.version_at_home(shard_index{0}, version_index{1});
  CHECK_FALSE(text(books.announce()) == "nothing");
}

TEST_CASE("where a device steps shard 0 the next step follows the last unit on its device") {
  auto books = two_shards();
  books.step_on_device(true);
  books.batch_at_home(minibatch(1));
  place(books), place(books);
  CHECK(text(books.announce()) == "step 0 backward 0 after 0");
  REQUIRE(books.placed(unit_of_b0(), d1));
  CHECK(text(books.announce()) == "step 1 forward 0 after 1");
}

TEST_CASE("a step that follows on the device goes back with the unit that was to make its version") {
  auto books = two_shards();
  books.step_on_device(true);
  books.batch_at_home(minibatch(1));
  place(books), place(books);
  const auto b0 = place(books);
  place(books);
  REQUIRE(books.lost(b0, 1));
  CHECK(text(books.announce()) == "step 0 backward 0 attempt 1 after 0");
}

TEST_CASE("a step that has to be acknowledged does not follow on the device") {
  auto books = two_shards(3, true);
  books.step_on_device(true);
  books.batch_at_home(minibatch(1));
  place(books), place(books), place(books);
  CHECK(text(books.announce()) == "nothing");
}

TEST_CASE("a unit waits for the version of its own shard") {
  auto books = two_shards();
  books.batch_at_home(minibatch(1));
  complete_step(books);
  books.version_at_home(shard_index{0}, version_index{1});
  place(books);
  CHECK(text(books.announce()) == "nothing");
  books.version_at_home(shard_index{1}, version_index{1});
  CHECK(text(books.announce()) == "step 1 backward 1 after 0");
}

TEST_CASE("an observed step has to be acknowledged before the next one begins") {
  auto books = two_shards(3, true);
  books.batch_at_home(minibatch(1));
  complete_step(books);
  bring_versions(books, 1);
  CHECK(text(books.announce()) == "nothing");
  books.acknowledged(step_index{0});
  CHECK(text(books.announce()) == "step 1 forward 0");
}

TEST_CASE("who has given up announces nothing more and is drained when its flights are over") {
  auto books = two_shards();
  const auto f0 = place(books);
  books.give_up();
  CHECK(text(books.announce()) == "nothing");
  CHECK_FALSE(books.wanted_batch());
  CHECK_FALSE(books.drained());
  CHECK(books.completed(f0));
  CHECK(books.drained());
}

// -- minibatches ----------------------------------------------------------------------------------------------------------

TEST_CASE("minibatches are wanted once each, one step ahead of the one that has not completed") {
  auto books = two_shards(3);
  CHECK(wanted(books) == std::vector{minibatch(0), minibatch(1)});
  complete_step(books);
  CHECK(wanted(books) == std::vector{minibatch(2)});
  books.batch_at_home(minibatch(1));
  bring_versions(books, 1);
  complete_step(books);
  CHECK_FALSE(books.wanted_batch());  // there is no step 3
}

// -- losses ---------------------------------------------------------------------------------------------------------------

TEST_CASE("a lost unit takes the later flights with it and is announced again with the next attempt") {
  auto books = two_shards();
  const auto f0 = place(books);
  place(books);
  CHECK(books.lost(f0, 1));
  CHECK(books.drained());
  CHECK(text(books.announce()) == "step 0 forward 0 attempt 1");
}

TEST_CASE("a lost successor leaves its predecessor in flight") {
  auto books = two_shards();
  const auto f0 = place(books, d1);
  const auto b1 = place(books, d1);
  CHECK(books.lost(b1, 1));
  CHECK(text(books.announce()) == "step 0 backward 1 attempt 1 after 1");
  CHECK(books.completed(f0));
}

TEST_CASE("an announcement of an older attempt than a loss is void") {
  auto books = two_shards();
  const auto f0 = place(books);
  const auto stale = books.announce();
  CHECK(books.lost(f0, 1));
  CHECK(text(books.announce()) == "step 0 forward 0 attempt 1");
  CHECK_FALSE(books.placed(stale->what, d0));
}

TEST_CASE("a loss of somebody else's unit changes nothing but the attempt") {
  auto books = two_shards();
  const auto f0 = place(books);
  auto stranger = f0;
  stranger.step = step_index{2};
  CHECK_FALSE(books.lost(stranger, 3));
  CHECK(books.completed(f0));
  CHECK(text(books.announce()) == "step 0 backward 1 attempt 3");
}

TEST_CASE("late messages of a lost attempt are refused") {
  auto books = two_shards();
  const auto old = place(books);
  books.lost(old, 1);
  const auto f0 = place(books);
  CHECK_FALSE(books.completed(old));
  CHECK_FALSE(books.lost(old, 1));
  CHECK(books.completed(f0));
  CHECK_FALSE(books.completed(f0));  // nor is a second completion accepted
}

TEST_CASE("only the announced unit can be placed") {
  auto books = two_shards();
  auto next = books.announce()->what;
  next.shard = shard_index{1};
  CHECK_FALSE(books.placed(next, d0));
  CHECK(books.drained());
  next.shard = shard_index{0};
  CHECK(books.placed(next, d0));
  CHECK_FALSE(books.drained());
}

// -- the end --------------------------------------------------------------------------------------------------------------

TEST_CASE("a model is finished when its last step has completed and all shards have the last version") {
  auto books = two_shards(1);
  complete_step(books);
  CHECK(books.completed_steps() == 1);
  CHECK_FALSE(books.finished());
  books.version_at_home(shard_index{0}, version_index{1});
  CHECK_FALSE(books.finished());
  books.version_at_home(shard_index{1}, version_index{1});
  CHECK(books.finished());
  CHECK(text(books.announce()) == "nothing");
}

TEST_CASE("a stopped model ends after the step it is told, never after more than planned") {
  auto books = two_shards(3, true);
  books.batch_at_home(minibatch(1));
  complete_step(books);
  bring_versions(books, 1);
  books.stop_after(1);
  books.acknowledged(step_index{0});
  CHECK(text(books.announce()) == "nothing");
  CHECK(books.finished());

  auto other = two_shards(3);
  other.stop_after(9);
  CHECK(other.units().steps() == 3);
}

// -- evaluation -----------------------------------------------------------------------------------------------------------

TEST_CASE("an evaluation goes through all shards with each range of micro-batches, before the next step") {
  auto books = evaluated();
  std::string order;
  while (!books.finished()) {
    for (const auto& range : wanted(books)) {
      books.batch_at_home(range);
    }
    const auto u = place(books);
    order += to_string(u.way).substr(0, 1) + std::to_string(u.shard.value) + "." + std::to_string(u.micro_batches) + " ";
    books.completed(u);
    if (u.way == direction::backward) {
      books.version_at_home(u.shard, u.step.next());
    }
  }
  const std::string step = "f0.1 b1.1 b0.1 ";
  const std::string evaluation = "e0.2 e1.2 e0.1 e1.1 ";
  CHECK(order == step + evaluation + step + evaluation);
}

TEST_CASE("an evaluation unit waits for its range and for the version of its shard") {
  auto books = evaluated();
  wanted(books);
  books.batch_at_home(minibatch(0));
  complete_step(books);
  bring_versions(books, 1);
  CHECK(text(books.announce()) == "nothing");
  books.batch_at_home(round_of(1, 0, 2));
  CHECK(text(books.announce()) == "step 1 evaluate 0");
}

TEST_CASE("ranges of an evaluation are wanted a step ahead, and no more than two are open") {
  auto books = evaluated();
  CHECK(wanted(books) == std::vector{minibatch(0), minibatch(1), round_of(1, 0, 2), round_of(1, 2, 1)});
  books.batch_at_home(minibatch(0));
  books.batch_at_home(round_of(1, 0, 2));
  complete_step(books);
  CHECK(wanted(books).empty());
  bring_versions(books, 1);
  books.completed(place(books));
  CHECK(wanted(books).empty());
  books.completed(place(books));
  CHECK(wanted(books) == std::vector{round_of(2, 0, 2)});
}

TEST_CASE("who may be stopped after a step wants its evaluation when the step is acknowledged, and is evaluated at its end") {
  cursor units(model_id{4}, 2, 9, 1);
  units.evaluate({.every = 2, .range = {.micro_batches = 1, .round = 1}});
  task_books books(units, 2, true);
  CHECK(wanted(books) == std::vector{minibatch(0), minibatch(1)});
  books.batch_at_home(minibatch(0));
  complete_step(books);
  bring_versions(books, 1);
  CHECK(wanted(books) == std::vector{minibatch(2)});
  books.stop_after(1);
  books.acknowledged(step_index{0});
  CHECK_FALSE(books.finished());
  CHECK(wanted(books) == std::vector{round_of(1, 0, 1)});
  books.batch_at_home(round_of(1, 0, 1));
  books.completed(place(books));
  books.completed(place(books));
  CHECK(books.finished());
}

TEST_CASE("with random losses every unit completes in its order and the model finishes") {
  std::mt19937 random(2);
  for (int run = 0; run < 200; ++run) {
    cursor units(model_id{}, 3, 2, 1);
    units.evaluate({.every = 1, .range = {.micro_batches = 3, .round = 2}});
    task_books books(units, 3, false);
    std::vector<unit> flights;
    unit_position expected;
    std::uint32_t attempt = 0;
    for (int losses = 6; !books.finished();) {
      for (const auto& range : wanted(books)) {
        books.batch_at_home(range);
      }
      if (const auto next = books.announce(); next && books.placed(next->what, d0)) {
        flights.push_back(next->what);
      } else if (losses > 0 && random() % 3 == 0) {
        const auto i = random() % flights.size();
        REQUIRE(books.lost(flights[i], ++attempt));
        flights.resize(i);
        --losses;
      } else {
        REQUIRE(books.completed(flights.front()));
        REQUIRE(books.units().position_of(flights.front()) == expected);
        expected = books.units().next(expected);
        if (flights.front().way == direction::backward) {
          books.version_at_home(flights.front().shard, flights.front().step.next());
        }
        flights.erase(flights.begin());
      }
    }
    CHECK(expected == unit_position{3, 0});
  }
}

// -- beginning where it stopped -------------------------------------------------------------------------------------------

TEST_CASE("books that begin inside a step ask for its batch and announce its next unit") {
  task_books books(cursor(model_id{4}, 2, 3, 1), 2, false);
  books.begin_at({1, 2}, 1, {version_index{1}, version_index{2}});
  CHECK(wanted(books) == std::vector{minibatch(1), minibatch(2)});
  books.batch_at_home(minibatch(1));
  const auto next = books.announce();
  REQUIRE(next);
  CHECK(text(next) == "step 1 backward 0");
  CHECK(books.placed(next->what, d0));
  CHECK(books.committed() == unit_position{1, 2});
  CHECK(books.completed(next->what));
  CHECK(books.committed() == unit_position{2, 0});
  CHECK(books.completed_steps() == 2);
}

TEST_CASE("books that begin at a step that was observed wait until that is acknowledged again") {
  task_books books(cursor(model_id{4}, 2, 3, 1), 2, true);
  books.begin_at({1, 0}, 0, {version_index{1}, version_index{1}});
  books.batch_at_home(minibatch(1));
  CHECK(text(books.announce()) == "nothing");
  books.acknowledged(step_index{0});
  CHECK(text(books.announce()) == "step 1 forward 0");
}

TEST_CASE("books that begin at the end are finished") {
  task_books books(cursor(model_id{4}, 2, 3, 1), 2, false);
  books.begin_at({3, 0}, 3, {version_index{3}, version_index{3}});
  CHECK(wanted(books).empty());
  CHECK(text(books.announce()) == "nothing");
  CHECK(books.finished());
}

TEST_CASE("an evaluation that was not over is read and announced from its begin") {
  auto books = evaluated();
  books.begin_at({1, 0}, 1, {version_index{1}, version_index{1}});
  CHECK(wanted(books) == std::vector{minibatch(1), round_of(1, 0, 2), round_of(1, 2, 1)});
  books.batch_at_home(round_of(1, 0, 2));
  CHECK(text(books.announce()) == "step 1 evaluate 0");
}
