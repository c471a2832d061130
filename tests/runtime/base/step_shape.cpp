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
  CHECK(refused({.shards = 0}) == "a step has at least one shard, micro-batch, replica and wave");
  CHECK(refused({.micro_batches = 4, .replicas = 3}) == "3 replicas do not divide the 4 micro-batches of a step");
  CHECK(refused({.micro_batches = 4, .replicas = 2, .waves = 3}) ==
        "3 waves do not divide the 2 micro-batches of a replica");
  CHECK(refused({.micro_batches = 4, .replicas = 2, .waves = 2}) == "accepted");
}
