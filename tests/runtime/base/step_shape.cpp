#include "runtime/base/step_shape.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;

TEST_CASE("a shape that divides nothing is refused with its numbers", "[step_shape]") {
  const auto refused = [](const step_shape& shape) {
    try {
      check_shape(shape);
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
    return std::string("accepted");
  };
  CHECK(refused({.shards = 0}) == "a step has at least one shard, micro-batch, replica, wave and piece");
  CHECK(refused({.micro_batches = 4, .replicas = 3}) == "3 replicas do not divide the 4 micro-batches of a step");
  CHECK(refused({.micro_batches = 4, .replicas = 2, .waves = 3}) ==
        "3 waves do not divide the 2 micro-batches of a replica");
  CHECK(refused({.micro_batches = 4, .replicas = 2, .waves = 2}) == "accepted");
  CHECK(refused({.shards = 3, .micro_batches = 4, .replicas = 2, .waves = 2, .meets = 1}) ==
        "2 replicas in 2 waves cannot meet before shard 1 of 3");
  CHECK(refused({.shards = 3, .micro_batches = 4, .replicas = 2, .meets = 3}) ==
        "2 replicas in 1 waves cannot meet before shard 3 of 3");
  CHECK(refused({.shards = 3, .micro_batches = 4, .replicas = 2, .meets = 2}) == "accepted");
}

TEST_CASE("from where replicas meet a shard is visited once, with all micro-batches", "[step_shape]") {
  const step_shape shape{.shards = 4, .micro_batches = 6, .replicas = 3, .abreast = 2, .meets = 2};
  CHECK(shape.visits_of(1) == 3);
  CHECK(shape.batches_of(1) == 2);
  CHECK(shape.sums_of(1) == 3);
  CHECK(shape.visits_of(2) == 1);
  CHECK(shape.batches_of(3) == 6);
  CHECK(shape.sums_of(3) == 1);
  CHECK(shape.lanes() == 4);
  CHECK_FALSE(shape.lanes_alike());
}
