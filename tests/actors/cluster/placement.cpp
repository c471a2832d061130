#include "actors/cluster/placement.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;

namespace placement_test {

placeable_model of(duration remaining, std::optional<std::size_t> on = {}) {
  return {.remaining = remaining, .on = on};
}

TEST_CASE("a node ends with its longest model, or when its devices have done all of them", "[cluster]") {
  const node_capacity two{.devices = 2, .speed = 0.5};
  CHECK(expected_end(two, {}) == 0s);
  CHECK(expected_end(two, std::vector<duration>{4s}) == 8s);
  CHECK(expected_end(two, std::vector<duration>{4s, 1s}) == 8s);
  CHECK(expected_end(two, std::vector<duration>{4s, 4s, 4s}) == 12s);
}

TEST_CASE("the longest models are placed first, each where it ends first", "[cluster]") {
  const std::vector<node_capacity> nodes{{.devices = 1, .speed = 1}, {.devices = 1, .speed = 0.5}};
  const std::vector models{of(1s), of(4s), of(2s), of(1s)};
  // 4 on the fast one; 2 on the slow one (4 s, not 6); 1 on the fast one (5 s, not 6); the other 1 would end after 6 s
  // on both, and there are fewer models on the slow one.
  const auto places = place(models, nodes);
  CHECK(places[1] == 0);
  CHECK(places[2] == 1);
  CHECK(places[0] == 0);
  CHECK(places[3] == 1);
}

TEST_CASE("of nodes where a model ends at the same time, it goes to the one with fewest models", "[cluster]") {
  const std::vector<node_capacity> nodes(2, {.devices = 2});
  const auto places = place(std::vector{of(2s), of(2s)}, nodes);
  CHECK(places[0] == 0);
  CHECK(places[1] == 1);
}

TEST_CASE("models stay where they are, and those that are too large for a node do not come to it", "[cluster]") {
  const std::vector<node_capacity> nodes{{}, {}};
  std::vector models{of(9s, 0), of(1s), of(1s)};
  models[2].too_large_for = {1};
  const auto places = place(models, nodes);
  CHECK(places[0] == 0);
  CHECK(places[1] == 1);
  CHECK(places[2] == 0);
  models[2].too_large_for = {0, 1};
  CHECK_FALSE(place(models, nodes)[2]);
  CHECK_FALSE(place(std::vector{of(1s)}, {})[0]);
}

TEST_CASE("a model moves away from the node that ends last, if that brings more than it costs", "[cluster]") {
  std::vector<node_capacity> nodes{{}, {}};
  std::vector models{of(5s, 0), of(4s, 0), of(1s, 1)};
  auto move = best_move(models, nodes);
  REQUIRE(move);
  CHECK(move->model == 1);  // 5 and 5; with the other one 4 and 6
  CHECK(move->to == 1);
  for (auto& m : models) {
    m.begun = true;
    m.checkpoint = 1_GiB;
  }
  nodes[0].link = parse_rate("1GiB/s");
  CHECK(best_move(models, nodes));  // 9 -> 5 s for a transfer of 1 s
  nodes[0].link = parse_rate("64MiB/s");
  CHECK_FALSE(best_move(models, nodes));  // for one of 16 s
  models[1].begun = false;
  CHECK(best_move(models, nodes));  // it has no state yet
}

TEST_CASE("nothing moves for less than a fiftieth of what is left", "[cluster]") {
  const std::vector<node_capacity> nodes{{}, {}};
  CHECK_FALSE(best_move(std::vector{of(100s, 0), of(1s, 0), of(100s, 1)}, nodes));
  CHECK_FALSE(best_move(std::vector{of(10s, 0)}, nodes));
  CHECK_FALSE(best_move(std::vector<placeable_model>{}, nodes));
}

}  // namespace placement_test
