#include "partition/profile/device_stepping.hpp"

#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

namespace device_stepping_test {

chain gpt(bool tied) { return *small_gpt({.layers = 3, .width = 8, .heads = 2, .context = 6, .tied = tied}).body; }

shard_boundary boundary(duration update, duration device_update) {
  return {.forward = 10ms,
          .backward = 20ms,
          .promote = 1ms,
          .demote = 2ms,
          .update = update,
          .device_update = device_update,
          .demote_stepped = 7ms};
}

TEST_CASE("layers of a tie are stepped on the host, all others may be stepped on a device") {
  const auto tied = stepping_of(gpt(true), optimizer_place::device, adamw({}));
  CHECK(tied.host_only == std::vector{true, false, false, false, true});
  CHECK(tied.covers(1, 4));
  CHECK_FALSE(tied.covers(0, 2));
  const auto untied = stepping_of(gpt(false), optimizer_place::device, adamw({}));
  CHECK(untied.covers(0, 5));
  CHECK(untied.buffers == 2);
}

TEST_CASE("nothing is stepped on a device if it is not requested, or if the model clips") {
  CHECK_FALSE(stepping_of(gpt(false), optimizer_place::host, adamw({})).covers(0, 1));
  CHECK_FALSE(stepping_of(gpt(false), optimizer_place::device, adamw({.clip_norm = 1})).covers(0, 1));
}

TEST_CASE("by the rates nothing is requested before a cut is known, and memory can be reserved for the first shard") {
  auto stepping = stepping_of(gpt(false), optimizer_place::automatic, sgd({.momentum = 0.9}));
  CHECK_FALSE(stepping.covers(0, 2));
  CHECK(stepping.possible(0, 5));
  CHECK(stepping.buffers == 1);
  stepping.pieces = device_stepping::scope::first;
  CHECK(stepping.covers(0, 2));
  CHECK_FALSE(stepping.covers(2, 5));
}

TEST_CASE("in bf16 the masters are state, too") {
  auto model = gpt(false);
  model.compute_in(precision::bf16);
  CHECK(stepping_of(model, optimizer_place::device, adamw({})).buffers == 3);
}

TEST_CASE("a step ends with the way of shard 0 to the host and back, unless it is stepped on the device") {
  const std::vector<shard_boundary> one{boundary(5ms, 1ms)};
  CHECK(boundary_of(one, 0) == 20ms + 2ms + 5ms + 1ms + 10ms);
  CHECK(boundary_of(one, 1) == 20ms + 1ms + 10ms);
  CHECK(best_split(one, 1) == 1);
  CHECK(best_split(one, 0) == 0);
}

TEST_CASE("a device that updates more slowly than the host's way takes leaves it to the host") {
  const std::vector<shard_boundary> one{boundary(5ms, 9ms)};
  CHECK(best_split(one, 1) == 0);
}

TEST_CASE("a slow host leaves more than one shard to the device") {
  const std::vector<shard_boundary> slow(4, boundary(60ms, 1ms));
  CHECK(best_split(slow, 4) > 1);
  const std::vector<shard_boundary> fast(4, boundary(1ms, 1ms));
  CHECK(best_split(fast, 4) == 1);
}

TEST_CASE("no split makes a step longer than none, and never more shards are chosen than fit") {
  std::mt19937 random(7);
  const auto some = [&](int most) { return std::chrono::milliseconds(random() % static_cast<unsigned>(most)); };
  for (int i = 0; i < 1000; ++i) {
    std::vector<shard_boundary> shards(1 + random() % 6);
    for (auto& s : shards) {
      s = {.forward = some(20), .backward = some(40), .promote = some(9), .demote = some(9), .update = some(90),
           .device_update = some(9), .demote_stepped = some(30)};
    }
    const auto most = random() % 7;
    const auto split = best_split(shards, most);
    REQUIRE(split <= std::min<std::size_t>(most, shards.size()));
    for (std::size_t n = 0; n <= std::min<std::size_t>(most, shards.size()); ++n) {
      REQUIRE(boundary_of(shards, split) <= boundary_of(shards, n));
    }
  }
}

}  // namespace device_stepping_test
