#include "actors/policy/device_watch.hpp"

#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace device_watch_test {

constexpr device_id d0{0};
constexpr device_id d1{1};

/// Holds a unit that takes 10 us since time 0.
device_load computing(device_id device, duration longest = 10us) {
  return {.device = device, .computes = true, .since = at(0), .longest = longest};
}

device_load staging(device_id device, duration longest = 10us) {
  return {.device = device, .computes = false, .since = at(0), .longest = longest};
}

constexpr watch_limits tenfold{.minimum = 50us, .factor = 10};

/// Checks when the watch wants to: the first device it reports, and when.
std::optional<std::pair<device_id, time_point>> first_accused(device_watch& w, const std::vector<device_load>& loads) {
  for (int i = 0; i < 10; ++i) {
    const auto due = w.next_look(loads);
    if (!due) {
      return std::nullopt;
    }
    if (const auto found = w.look(loads, *due)) {
      return std::pair{found->device, *due};
    }
  }
  return std::nullopt;
}

TEST_CASE("a device is silent after its factor of the longest unit it holds", "[watch]") {
  device_watch w(tenfold);
  const std::vector loads{computing(d0)};
  CHECK(w.next_look(loads) == at(100));
  CHECK_FALSE(w.look(loads, at(99)));
  const auto found = w.look(loads, at(100));
  REQUIRE(found);
  CHECK((found->device == d0 && found->lasted == 100us));
}

TEST_CASE("a device whose units are short is silent after the minimum", "[watch]") {
  device_watch w(tenfold);
  CHECK(w.next_look({{computing(d0, 1us)}}) == at(50));
}

TEST_CASE("copies that were measured make the limit longer, on that device", "[watch]") {
  device_watch w(tenfold);
  w.measured(d0, 7us);
  w.measured(d0, 5us);
  CHECK(w.next_look({{computing(d0)}}) == at(170));
  CHECK(w.next_look({{computing(d1)}}) == at(100));
}

TEST_CASE("a sign of life restarts the time", "[watch]") {
  device_watch w(tenfold);
  w.sign_of_life(d0, at(60));
  CHECK(w.next_look({{computing(d0)}}) == at(160));
}

TEST_CASE("the time when a device held no unit does not count", "[watch]") {
  device_watch w(tenfold);
  w.sign_of_life(d0, at(10));
  auto load = computing(d0);
  load.since = at(5000);
  CHECK(w.next_look({{load}}) == at(5100));
}

TEST_CASE("a device without units is not watched, and none is without a limit", "[watch]") {
  device_watch w(tenfold);
  CHECK_FALSE(w.next_look({}));
  device_watch off({.minimum = {}});
  CHECK_FALSE(off.next_look({{computing(d0)}}));
  CHECK_FALSE(off.look({{computing(d0)}}, at(1'000'000)));
}

TEST_CASE("a device that only stages may wait for others: it gets the longest limit in addition", "[watch]") {
  device_watch w(tenfold);
  CHECK(w.next_look({{staging(d0)}}) == at(200));
  const std::vector loads{staging(d0), computing(d1, 100us)};
  CHECK(first_accused(w, loads) == std::pair{d1, at(1000)});
}

TEST_CASE("the loss of a device is a sign of life of all others, and it is accused no more", "[watch]") {
  device_watch w(tenfold);
  const std::vector loads{computing(d0), computing(d1)};
  w.next_look(loads);
  REQUIRE(w.look(loads, at(100))->device == d0);
  w.device_left(d0, at(110));
  CHECK(first_accused(w, loads) == std::pair{d1, at(210)});
  w.device_left(d0, at(120));  // known already
  CHECK(w.next_look(loads) == at(210));
}

TEST_CASE("a check that comes far too late reports no device: the program was suspended", "[watch]") {
  device_watch w(tenfold);
  const std::vector loads{computing(d0)};
  REQUIRE(w.next_look(loads) == at(100));
  CHECK_FALSE(w.look(loads, at(126)));
  CHECK(w.next_look(loads) == at(226));
  CHECK(w.look(loads, at(226)));
}

TEST_CASE("a device that gives signs of life is never accused, one that gives none always is", "[watch]") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    device_watch w(tenfold);
    const auto longest = std::chrono::microseconds(1 + random() % 20);
    const duration limit = std::max<duration>(50us, 10 * longest);
    const std::vector loads{computing(d0, longest), computing(d1, longest)};
    time_point alive = at(0);
    std::optional<silence> found;
    for (int i = 0; i < 100 && !found; ++i) {
      const auto due = *w.next_look(loads);
      while (alive + limit / 2 < due) {
        alive += limit / 4 + std::chrono::microseconds(random() % 5);
        w.sign_of_life(d1, alive);
      }
      found = w.look(loads, due);
    }
    REQUIRE(found);
    REQUIRE((found->device == d0 && found->lasted == limit));
  }
}

}  // namespace device_watch_test
