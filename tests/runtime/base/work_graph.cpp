#include "runtime/base/work_graph.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace hydra;

namespace {

/// A forward visit in a lane of its own; blocks by their indices.
work_unit visit_in(std::uint32_t lane, std::vector<std::uint32_t> reads, std::vector<std::uint32_t> writes,
                   std::uint32_t shard = 0) {
  work_unit u;
  u.what.replica = replica_id{lane};
  u.what.shard = shard_index{shard};
  for (const auto b : reads) u.reads.push_back({.role = block_role::input, .block = block_index{b}});
  for (const auto b : writes) u.writes.push_back({.role = block_role::output, .block = block_index{b}});
  return u;
}

std::vector<graph_block> numbered_blocks(std::uint32_t n) {
  std::vector<graph_block> all(n);
  for (std::uint32_t i = 0; i < n; ++i) all[i].id.micro_batch = micro_batch_index{i};
  return all;
}

std::string refusal_of(std::vector<work_unit> units) {
  try {
    work_graph(std::move(units), numbered_blocks(3));
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
  return "accepted";
}

std::vector<node_index> nodes(std::initializer_list<std::uint32_t> all) {
  std::vector<node_index> found;
  for (const auto n : all) found.emplace_back(n);
  return found;
}

std::vector<node_index> list_of(std::span<const node_index> all) { return {all.begin(), all.end()}; }

}  // namespace

TEST_CASE("a unit follows all writers of what it reads, and a block has any number of readers", "[work_graph]") {
  const work_graph g({visit_in(0, {}, {0}), visit_in(1, {}, {1}), visit_in(2, {0}, {2}), visit_in(3, {0, 1, 2, 0}, {})},
                     numbered_blocks(3));
  CHECK(list_of(g.predecessors(node_index{3})) == nodes({0, 1, 2}));
  CHECK(list_of(g.successors(node_index{0})) == nodes({2, 3}));
  CHECK(list_of(g.readers(block_index{0})) == nodes({2, 3}));
  CHECK(g.writer(block_index{2}) == node_index{2});
  CHECK(g.ready({true, false, false, false}) == nodes({1, 2}));
  CHECK(g.follows(node_index{3}, node_index{0}));
  CHECK_FALSE(g.follows(node_index{2}, node_index{1}));
  CHECK(g.lanes() == 4);
}

TEST_CASE("the last reader of a block follows all others of it", "[work_graph]") {
  const work_graph g({visit_in(0, {}, {0}), visit_in(1, {0, 2}, {1}), visit_in(2, {0, 1}, {}), visit_in(3, {2}, {})},
                     numbered_blocks(3));
  CHECK(g.last_reader(block_index{0}) == node_index{2});
  CHECK(g.last_reader(block_index{1}) == node_index{2});
  CHECK_FALSE(g.last_reader(block_index{2}));  // nobody knows which of the two comes last
  CHECK_FALSE(work_graph({visit_in(0, {}, {0})}, numbered_blocks(1)).last_reader(block_index{0}));
}

TEST_CASE("names count with the steps and rounds, but for what a run keeps", "[work_graph]") {
  auto blocks = numbered_blocks(4);
  blocks[0].life = block_life::of_version;
  blocks[1].life = block_life::of_version;
  blocks[1].id.step = step_index{1};
  blocks[2].life = block_life::of_run;
  blocks[3].parts = 2;
  const work_graph g({visit_in(0, {0, 2, 3}, {1})}, blocks);
  const graph_turn turn{.step = step_index{5}, .first = micro_batch_index{8}};
  const auto name = [&](std::uint32_t b, std::uint32_t part = 0) { return g.name({block_index{b}, part}, turn); };
  CHECK(name(0).step == step_index{5});
  CHECK(name(1).step == step_index{6});
  CHECK(name(2) == blocks[2].id);
  CHECK(name(1).micro_batch == micro_batch_index{1});  // no part of a round
  CHECK(name(3, 1).micro_batch == micro_batch_index{3 + 1 + 8});
}

TEST_CASE("a block is found by its name in its own step only, what a run keeps in all", "[work_graph]") {
  auto blocks = numbered_blocks(3);
  blocks[1].id.step = step_index{1};
  blocks[2].life = block_life::of_run;
  blocks[2].parts = 2;
  const work_graph g({visit_in(0, {0, 2}, {1})}, blocks);
  const graph_turn now{.step = step_index{5}}, next{.step = step_index{6}};
  const auto name = [&](std::uint32_t b, const graph_turn& turn) { return g.name({block_index{b}}, turn); };
  for (const std::uint32_t b : {0, 1, 2}) CHECK(g.find(name(b, now), now) == block_part{block_index{b}});
  CHECK(g.find(name(2, now), next) == block_part{block_index{2}});
  CHECK(g.find(g.name({block_index{2}, 1}, now), now) == block_part{block_index{2}, 1});
  CHECK_FALSE(g.find(g.name({block_index{2}, 2}, now), now));
  CHECK_FALSE(g.find(name(0, now), next));
  CHECK_FALSE(g.find(name(0, next), now));
  auto other = name(0, now);
  other.model = model_id{1};
  CHECK_FALSE(g.find(other, now));
  other.pass = pass_kind::evaluation;
  CHECK_FALSE(g.find(other, now));
}

TEST_CASE("a graph has the units and blocks of every model, and a shared block by one name for all", "[work_graph]") {
  auto blocks = numbered_blocks(2);
  blocks[0].id.model = model_id{4};
  blocks[0].shared = true;
  blocks[0].life = block_life::of_run;
  blocks[1].id.micro_batch = {};  // the same name, of the model itself
  const work_graph g({visit_in(0, {0, 1}, {})}, blocks);
  for (const std::uint32_t model : {0, 4, 7}) {
    const graph_turn turn{.model = model_id{model}, .step = step_index{1}};
    const auto own = g.name({block_index{1}}, turn);
    CHECK(own.model == model_id{model});
    CHECK(g.name({block_index{0}}, turn) == blocks[0].id);
    CHECK(g.find(own, turn) == block_part{block_index{1}});
    CHECK(g.find(blocks[0].id, turn) == block_part{block_index{0}});
    auto u = g.at(node_index{0}).what;
    u.model = model_id{model};
    CHECK(g.find(u) == node_index{0});
  }
}

TEST_CASE("at a position the first units of each lane are done", "[work_graph]") {
  auto second = visit_in(0, {0}, {}, 1);
  const work_graph g({visit_in(0, {}, {0}), second, visit_in(1, {}, {})}, numbered_blocks(1));
  const auto done = [&](const step_position& at) {
    return std::vector{g.is_done(node_index{0}, at), g.is_done(node_index{1}, at), g.is_done(node_index{2}, at)};
  };
  CHECK(done({}) == std::vector{false, false, false});
  CHECK(done({.step = 3, .units = {1, 0}}) == std::vector{true, false, false});
  CHECK(done({.step = 3, .units = {1, 1}}) == std::vector{true, false, true});
  CHECK(done({.step = 3, .units = {2}}) == std::vector{true, true, false});
}

TEST_CASE("a unit is found by its name in any step and attempt, an evaluation's in any round and lane",
          "[work_graph]") {
  auto evaluation = visit_in(0, {}, {});
  evaluation.what.way = direction::evaluate;
  const work_graph g({visit_in(0, {}, {0}), visit_in(1, {}, {}), evaluation}, numbered_blocks(1));
  auto u = g.at(node_index{1}).what;
  u.step = step_index{9};
  u.attempt = 2;
  CHECK(g.find(u) == node_index{1});
  u.way = direction::evaluate;
  u.first_micro_batch = micro_batch_index{4};
  CHECK(g.find(u) == node_index{2});
  u.way = direction::backward;
  CHECK_FALSE(g.find(u));
}

TEST_CASE("a graph that has no order is refused with the unit", "[work_graph]") {
  CHECK(refusal_of({visit_in(0, {}, {0}), visit_in(1, {}, {0})}) ==
        "a graph: model 0 replica 1 step 0 forward 0 writes parameters of model 0 shard 0 version 0, as another unit");
  CHECK(refusal_of({visit_in(0, {0}, {}), visit_in(1, {}, {0})}).find("after its reader") != std::string::npos);
  CHECK(refusal_of({visit_in(0, {0}, {0})}).find("after its reader") != std::string::npos);
  CHECK(refusal_of({visit_in(0, {}, {}), visit_in(0, {}, {})}) == "a graph: model 0 step 0 forward 0 is there twice");
  CHECK_THROWS_WITH(work_graph({}, std::vector<graph_block>(2)),
                    "a graph: parameters of model 0 shard 0 version 0 is there twice");
}
