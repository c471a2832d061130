#include "runtime/base/step_graph.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/predecessors.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

/// "F0 B1 B0", of one lane.
std::string order_of(const step_graph& graph, std::uint32_t lane) {
  std::string text;
  for (std::uint32_t i = 0; i < graph.lane_length(); ++i) {
    const auto u = graph.at(lane * graph.lane_length() + i);
    text += (i > 0 ? " " : "") + std::string(u.way == direction::forward ? "F" : "B") + std::to_string(u.shard.value);
  }
  return text;
}

/// Micro-batches of each lane: "0-1 2-2".
std::string ranges_of(const step_shape& shape) {
  const step_graph graph(shape);
  std::string text;
  for (std::uint32_t lane = 0; lane < graph.lanes(); ++lane) {
    const auto range = graph.micro_batches_of(lane);
    text += (lane > 0 ? " " : "") + std::to_string(range.first.value) + "-" +
            std::to_string(range.first.value + range.count - 1);
  }
  return text;
}

}  // namespace

TEST_CASE("a lane visits forward, then the last shard's loss, then backward", "[step_graph]") {
  CHECK(order_of(step_graph({.shards = 1}), 0) == "B0");
  CHECK(order_of(step_graph({.shards = 2}), 0) == "F0 B1 B0");
  CHECK(order_of(step_graph({.shards = 4, .first_trained = 2}), 0) == "F0 F1 F2 B3 B2");
  CHECK(order_of(step_graph({.shards = 3, .first_trained = 2}), 0) == "F0 F1 B2");
  const step_graph graph({.shards = 4, .micro_batches = 4, .replicas = 2, .waves = 2});
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    CHECK(order_of(graph, lane) == "F0 F1 F2 B3 B2 B1 B0");
  }
}

TEST_CASE("lanes divide the micro-batches of a step in order", "[step_graph]") {
  CHECK(ranges_of({.micro_batches = 5}) == "0-4");
  CHECK(ranges_of({.micro_batches = 6, .replicas = 3}) == "0-1 2-3 4-5");
  CHECK(ranges_of({.micro_batches = 6, .waves = 2}) == "0-2 3-5");
  CHECK(ranges_of({.micro_batches = 12, .replicas = 2, .waves = 3}) == "0-1 2-3 4-5 6-7 8-9 10-11");
}

TEST_CASE("nodes and units name each other; each follows its predecessors; a micro-batch has one lane",
          "[step_graph]") {
  for (const step_shape shape :
       {step_shape{.shards = 1}, step_shape{.shards = 3, .micro_batches = 6, .waves = 3},
        step_shape{.shards = 4, .micro_batches = 24, .replicas = 3, .waves = 4},
        step_shape{.shards = 5, .micro_batches = 4, .replicas = 2, .waves = 2, .first_trained = 3}}) {
    const step_graph graph(shape);
    std::set<unit> all;
    for (step_graph::node n = 0; n < graph.size(); ++n) {
      const auto u = graph.at(n);
      REQUIRE(all.insert(u).second);
      REQUIRE(graph.of(u) == n);
      for (const auto before : predecessors(graph, n)) {
        REQUIRE(before < n);
      }
    }
    for (std::uint32_t k = 0; k < shape.micro_batches; ++k) {
      const auto range = graph.micro_batches_of(graph.lane_of(micro_batch_index{k}));
      REQUIRE((range.first.value <= k && k < range.first.value + range.count));
    }
  }
}

TEST_CASE("a backward unit also follows that of the wave before, of its replica only", "[step_graph]") {
  const step_graph graph({.shards = 2, .micro_batches = 4, .replicas = 2, .waves = 2});  // lanes of 3: F0 B1 B0
  CHECK(predecessors(graph, 0).empty());
  CHECK(predecessors(graph, 2) == std::vector<step_graph::node>{1});
  CHECK(predecessors(graph, 3).empty());
  CHECK(predecessors(graph, 4) == std::vector<step_graph::node>{1, 3});
  CHECK(predecessors(graph, 5) == std::vector<step_graph::node>{2, 4});
  CHECK(predecessors(graph, 7) == std::vector<step_graph::node>{6});
}

TEST_CASE("a unit follows what comes before it in the graph, and only that", "[step_graph]") {
  const auto first_trained = GENERATE(0u, 1u, 2u);
  const step_graph graph({.shards = 3, .micro_batches = 12, .replicas = 2, .waves = 3, .first_trained = first_trained});
  const auto n = graph.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));  // transitively
  for (step_graph::node later = 0; later < n; ++later) {
    for (const auto p : predecessors(graph, later)) {
      before[later][p] = true;
      for (step_graph::node earlier = 0; earlier < p; ++earlier) {
        before[later][earlier] = before[later][earlier] || before[p][earlier];
      }
    }
    for (step_graph::node earlier = 0; earlier < n; ++earlier) {
      CHECK(follows(graph.at(later), graph.at(earlier)) == before[later][earlier]);
    }
  }
}

TEST_CASE("a shape that divides nothing is refused with its numbers", "[step_graph]") {
  const auto refused = [](const step_shape& shape) {
    try {
      step_graph graph(shape);
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

TEST_CASE("in a lane an evaluation comes before the training units of its step, range by range", "[step_graph]") {
  const auto evaluate = [](std::uint32_t first, std::uint32_t shard) {
    unit u;
    u.way = direction::evaluate;
    u.shard = shard_index{shard};
    u.first_micro_batch = micro_batch_index{first};
    return u;
  };
  const auto training = step_graph({.shards = 2}).at(0);
  CHECK(visited_before(evaluate(0, 1), evaluate(2, 0)));
  CHECK(visited_before(evaluate(2, 1), training));
  CHECK_FALSE(visited_before(training, evaluate(2, 1)));
}
