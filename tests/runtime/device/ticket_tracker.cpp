#include "runtime/device/ticket_tracker.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <vector>

using namespace hydra;

TEST_CASE("tickets increase, and ticket 0 is always complete") {
  ticket_tracker tracker;
  REQUIRE(tracker.knows(ticket{}));
  REQUIRE(tracker.completed(ticket{}));
  REQUIRE_FALSE(tracker.failed(ticket{}));
  const ticket first = tracker.issue();
  const ticket second = tracker.issue();
  REQUIRE(first);
  REQUIRE(second > first);
  REQUIRE(tracker.knows(second));
  REQUIRE_FALSE(tracker.knows(ticket{second.value + 1}));
}

TEST_CASE("an operation is complete when it has ended, whatever came before or after") {
  ticket_tracker tracker;
  const ticket first = tracker.issue();
  const ticket second = tracker.issue();
  tracker.complete(second, false);
  REQUIRE(tracker.completed(second));
  REQUIRE_FALSE(tracker.completed(first));
  tracker.complete(first, true);
  REQUIRE(tracker.completed(first));
  REQUIRE(tracker.failed(first));
  REQUIRE_FALSE(tracker.failed(second));
}

TEST_CASE("a million cancelled operations are one entry, a million good ones none") {
  ticket_tracker tracker;
  for (int i = 0; i < 1'000'000; ++i) tracker.complete(tracker.issue(), false);
  REQUIRE(tracker.failed_runs() == 0);
  for (int i = 0; i < 1'000'000; ++i) tracker.complete(tracker.issue(), true);
  REQUIRE(tracker.failed_runs() == 1);
  REQUIRE_FALSE(tracker.failed(ticket{1'000'000}));
  REQUIRE(tracker.failed(ticket{1'000'001}));
  REQUIRE(tracker.failed(ticket{2'000'000}));
}

TEST_CASE("failures in any order are remembered like in a set") {
  std::mt19937 random{3};
  ticket_tracker tracker;
  std::vector<ticket> open;
  std::set<ticket> failed;
  for (int i = 0; i < 3000; ++i) open.push_back(tracker.issue());
  std::ranges::shuffle(open, random);
  for (const ticket t : open) {
    const bool bad = random() % 2 == 0;
    tracker.complete(t, bad);
    if (bad) failed.insert(t);
  }
  std::size_t runs = 0;
  for (const ticket t : failed) runs += !failed.contains(ticket{t.value - 1});
  for (std::uint64_t n = 0; n <= 3001; ++n) REQUIRE(tracker.failed(ticket{n}) == failed.contains(ticket{n}));
  REQUIRE(tracker.failed_runs() == runs);
}

TEST_CASE("a tracker knows when no operation is outstanding") {
  ticket_tracker tracker;
  REQUIRE(tracker.all_completed());
  const ticket first = tracker.issue();
  const ticket second = tracker.issue();
  tracker.complete(second, true);
  REQUIRE_FALSE(tracker.all_completed());
  tracker.complete(first, false);
  REQUIRE(tracker.all_completed());
}
