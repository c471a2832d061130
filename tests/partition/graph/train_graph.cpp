#include "partition/graph/train_graph.hpp"

#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"
#include "tests/partition/graph/uneven_plan.hpp"
#include "tests/support/step_graph.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr model_id trained_model{2};
constexpr graph_turn some_step{.model = trained_model, .step = step_index{7}};

work_graph graph_of(const model_plan& plan) { return train_graph(outline_of(plan)); }

unit in_step(const work_graph& g, node_index n) {
  auto u = g.at(n).what;
  u.model = trained_model;
  u.step = some_step.step;
  return u;
}

std::string shape_text(const step_shape& s) {
  return std::to_string(s.shards) + " shards, " + std::to_string(s.micro_batches) + " micro-batches, " +
         std::to_string(s.replicas) + " replicas, " + std::to_string(s.waves) + " waves, first trained " +
         std::to_string(s.first_trained);
}

void append_saved(std::vector<block_id>& blocks, const unit& u, const model_plan& plan) {
  const bool saves = plan.shards[u.shard.value].saved > byte_count{};
  for (std::uint32_t i = 0; saves && i < u.micro_batches; ++i) {
    blocks.push_back(saved_by(u, micro_batch_index{u.first_micro_batch.value + i}));
  }
}

/// By the functions on names.
std::vector<block_id> reads_by_name(const unit& u, const model_plan& plan) {
  const auto& shard = plan.shards[u.shard.value];
  std::vector<block_id> blocks{parameters_of(u)};
  if (shard.base > byte_count{}) blocks.push_back(base_of(u, plan));
  const auto inputs = inputs_by_name(u, plan.shape());
  blocks.insert(blocks.end(), inputs.begin(), inputs.end());
  if (u.way == direction::backward) append_saved(blocks, u, plan);
  if (const auto sum = sum_before(u)) blocks.push_back(*sum);
  for (std::size_t i = 0; steps_shard(u, plan) && i < shard.state_buffers().size(); ++i) {
    blocks.push_back(state_block(u, i));
  }
  return blocks;
}

void check_blocks(const model_plan& plan) {
  const auto g = graph_of(plan);
  CHECK(wrong_blocks(g, plan, some_step).empty());
  for (node_index n; n.value < g.size(); n = n.next()) {
    const auto u = in_step(g, n);
    INFO(to_string(u));
    const auto on_host = written_back_by(u, plan);
    auto all = on_host;
    if (u.way == direction::forward) append_saved(all, u, plan);
    const auto consumed = consumed_by(u, plan.shape());
    CHECK(names_of(g, g.at(n).reads, some_step) == reads_by_name(u, plan));
    CHECK(names_of(g, g.at(n).writes, some_step) == all);
    CHECK(written_to_host(g, n, some_step) == on_host);
    CHECK(last_read_by(g, n, some_step) == std::set<block_id>(consumed.begin(), consumed.end()));
  }
}

/// The nodes that may be visited next, by the arithmetic on places in lanes.
std::vector<node_index> ready_by_place(const step_graph& order, const std::vector<bool>& done) {
  std::vector<node_index> all;
  for (step_graph::node n = 0; n < order.size(); ++n) {
    const auto before = order.predecessors(n);
    if (!done[n] && std::ranges::all_of(before, [&](step_graph::node p) { return done[p]; })) all.emplace_back(n);
  }
  return all;
}

/// Pairs of which the graph says otherwise than follows().
std::vector<std::string> wrong_pairs(const work_graph& g) {
  std::vector<std::string> wrong;
  for (node_index later; later.value < g.size(); later = later.next()) {
    for (node_index earlier; earlier.value < g.size(); earlier = earlier.next()) {
      if (g.follows(later, earlier) != follows(g.at(later).what, g.at(earlier).what)) {
        wrong.push_back(to_string(g.at(later).what) + " after " + to_string(g.at(earlier).what));
      }
    }
  }
  return wrong;
}

std::size_t edges_of(const work_graph& g, bool forwards) {
  std::size_t edges = 0;
  for (node_index n; n.value < g.size(); n = n.next()) {
    for (const auto other : forwards ? g.successors(n) : g.predecessors(n)) {
      const auto back = forwards ? g.predecessors(other) : g.successors(other);
      edges += std::ranges::find(back, n) != back.end() ? 1 : 1000;
    }
  }
  return edges;
}

}  // namespace

TEST_CASE("a lane visits forward, then the last shard's loss, then backward, with its micro-batches", "[work_graph]") {
  const auto order_of = [](const step_shape& shape) {
    const auto g = graph_of(uneven_plan(shape));
    std::string text;
    for (node_index n; n.value < g.size(); n = n.next()) {
      const auto& u = g.at(n).what;
      const bool begins = g.lane(g.lane_of(n)).front() == n;
      if (begins) text += "| " + std::to_string(u.first_micro_batch.value) + "+" + std::to_string(u.micro_batches) + " ";
      text += (u.way == direction::forward ? "F" : "B") + std::to_string(u.shard.value) + " ";
    }
    return text;
  };
  CHECK(order_of({.shards = 1, .micro_batches = 5}) == "| 0+5 B0 ");
  CHECK(order_of({.shards = 4, .first_trained = 2}) == "| 0+1 F0 F1 F2 B3 B2 ");
  CHECK(order_of({.shards = 2, .micro_batches = 8, .replicas = 2, .waves = 2}) ==
        "| 0+2 F0 B1 B0 | 2+2 F0 B1 B0 | 4+2 F0 B1 B0 | 6+2 F0 B1 B0 ");
}

TEST_CASE("a step as data has the units of the arithmetic, in its lanes and places", "[work_graph]") {
  for (const auto& shape : shapes_of(2)) {
    INFO(shape_text(shape));
    const step_graph order(shape);
    const auto g = graph_of(uneven_plan(shape));
    REQUIRE(g.size() == order.size());
    REQUIRE(g.lanes() == order.lanes());
    for (node_index n; n.value < g.size(); n = n.next()) {
      auto u = order.at(n.value);
      REQUIRE(g.at(n).what == u);
      REQUIRE(g.lane_of(n) == order.lane_of(u));
      REQUIRE(g.place_in_lane(n) == n.value % order.lane_length());
      REQUIRE(g.ends_lane(n) == ends_step(u, shape));
      u.model = trained_model;
      u.step = some_step.step;
      u.attempt = 3;
      REQUIRE(g.find(u) == n);
    }
    for (std::uint32_t lane = 0; lane < g.lanes(); ++lane) {
      const auto length = order.lane_length();
      REQUIRE(g.lane(lane).front() == node_index{lane * length});
      REQUIRE(g.lane(lane).size() == length);
    }
  }
}

TEST_CASE("what a unit of a step as data follows is what the arithmetic says", "[work_graph]") {
  for (const auto& shape : shapes_of(1)) {
    INFO(shape_text(shape));
    const step_graph order(shape);
    const auto g = graph_of(uneven_plan(shape, {.saves = true}));
    CHECK(wrong_pairs(g).empty());
    CHECK(edges_of(g, true) == edges_of(g, false));
    for (node_index n; n.value < g.size(); n = n.next()) {
      for (const auto p : order.predecessors(n.value)) {
        CHECK(std::ranges::count(g.predecessors(n), node_index{p}) == 1);
      }
    }
  }
}

TEST_CASE("units that are ready by the graph are those whose lanes and waves have come to them", "[work_graph]") {
  std::mt19937 random(1);
  for (const auto& shape : shapes_of(1)) {
    INFO(shape_text(shape));
    const step_graph order(shape);
    const auto g = graph_of(uneven_plan(shape));
    std::vector<bool> done(g.size());
    for (std::uint32_t visits = 0; visits < g.size(); ++visits) {
      const auto ready = g.ready(done);
      REQUIRE(ready == ready_by_place(order, done));
      REQUIRE_FALSE(ready.empty());
      done[ready[random() % ready.size()].value] = true;
    }
    CHECK(g.ready(done).empty());
  }
}

TEST_CASE("reads, writes, bytes and last readers of a step as data are those of the names", "[work_graph]") {
  for (const std::uint32_t lane_size : {1, 2, 3}) {
    for (const auto& shape : shapes_of(lane_size)) {
      for (const bool saves : {false, true}) {
        INFO(shape_text(shape) << (saves ? ", saving" : ""));
        check_blocks(uneven_plan(shape, {.saves = saves}));
        check_blocks(uneven_plan(shape, {.saves = saves, .slots = true}));
      }
    }
  }
}

TEST_CASE("a shard that its device steps reads and writes versions instead of leaving gradients", "[work_graph]") {
  for (const auto& shape : shapes_of(2)) {
    for (std::uint32_t stepped = 1; shape.lanes() == 1 && stepped <= shape.shards - shape.first_trained; ++stepped) {
      INFO(shape_text(shape) << ", " << stepped << " stepped");
      check_blocks(uneven_plan(shape, {.saves = true, .stepped = stepped}));
    }
  }
}

TEST_CASE("only versions, frozen parameters and samples come from outside the step", "[work_graph]") {
  for (const auto& shape : shapes_of(1)) {
    INFO(shape_text(shape));
    const auto g = graph_of(uneven_plan(shape, {.saves = true}));
    for (block_index b; b.value < g.blocks(); b = b.next()) {
      const auto& id = g.block(b).id;
      const auto kind = id.kind;
      const bool sample = kind == block_kind::minibatch || kind == block_kind::targets;
      CHECK(g.writer(b).has_value() == (!sample && kind != block_kind::parameters && kind != block_kind::base));
      const bool whole_sum = kind == block_kind::gradients && id.micro_batch.value + 1 == shape.waves;
      const bool result = kind == block_kind::loss || whole_sum;
      CHECK(g.readers(b).empty() == result);
    }
  }
}

TEST_CASE("a step on the device with the gradients of one lane of several is refused", "[work_graph]") {
  const step_shape shape{.shards = 2, .micro_batches = 2, .waves = 2};
  CHECK_THROWS_WITH(graph_of(uneven_plan(shape, {.stepped = 1})),
                    "a device would step a shard with the gradients of one lane alone");
  auto outline = outline_of(uneven_plan({.shards = 2}));
  outline.shards.pop_back();
  CHECK_THROWS_WITH(train_graph(outline), "a graph of 2 shards has bytes of 1");
  CHECK_THROWS_AS(graph_of(uneven_plan({.shards = 2, .micro_batches = 3, .waves = 2})), fault_error);
}
