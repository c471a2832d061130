// Graphs of models with shards that are visited side by side.

#include "partition/graph/evaluation_graph.hpp"
#include "partition/graph/train_graph.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace side_by_side_test {

namespace {

/// An embedding in two pieces, an opening, two pieces that add to its input, the end.
model_outline two_groups(std::uint32_t waves = 1) {
  model_outline outline{.shape = {.shards = 6, .micro_batches = waves, .waves = waves, .abreast = 2},
                        .minibatch = 8_B,
                        .targets = 4_B,
                        .loss = 4_B};
  for (std::uint32_t s = 0; s < 6; ++s)
    outline.shards.push_back(
        {.parameters = 100_B, .gradients = 100_B, .partial_sum = 100_B, .output = s < 5 ? byte_count{10 + s} : 0_B});
  outline.groups = {{.first = 0, .count = 2}, {.first = 3, .count = 2, .join = term_join::sum_with_input}};
  return outline;
}

std::string text_of(const work_graph& g, const std::vector<block_use>& uses) {
  std::string text;
  for (const auto& use : uses) {
    const auto& id = g.block(use.block).id;
    if (use.role == block_role::parameters) continue;
    text += " " + to_string(id.kind) + std::to_string(id.shard.value) + (use.role == block_role::skip ? "+" : "");
  }
  return text;
}

std::string text_of(const work_graph& g, node_index n) {
  const auto& u = g.at(n);
  return to_string(u.what.way).substr(0, 1) + std::to_string(u.what.shard.value) + " lane " +
         std::to_string(g.lane_of(n)) + " reads" + text_of(g, u.reads) + ", writes" + text_of(g, u.writes);
}

std::vector<std::string> text_of(const work_graph& g) {
  std::vector<std::string> all;
  for (node_index n; n.value < g.size(); n = n.next()) all.push_back(text_of(g, n));
  return all;
}

std::vector<std::uint32_t> before(const work_graph& g, std::uint32_t n) {
  std::vector<std::uint32_t> all;
  for (const auto p : g.predecessors(node_index{n})) all.push_back(p.value);
  return all;
}

}  // namespace

TEST_CASE("shards side by side read one boundary, and who reads their terms adds them", "[work_graph]") {
  const auto g = train_graph(two_groups());
  CHECK(text_of(g) == std::vector<std::string>{
                          "f0 lane 0 reads minibatch0, writes activation0",
                          "f1 lane 1 reads minibatch0, writes activation1",
                          "f2 lane 0 reads activation0 activation1, writes activation2 joined activations2",
                          "f3 lane 0 reads activation2, writes activation3",
                          "f4 lane 1 reads activation2, writes activation4",
                          "b5 lane 0 reads joined activations2 activation3 activation4 targets5, writes upstream4 "
                          "gradients5 loss5",
                          "b4 lane 1 reads activation2 upstream4, writes term of upstream4 gradients4",
                          "b3 lane 0 reads activation2 upstream4, writes term of upstream3 gradients3",
                          "b2 lane 0 reads joined activations2 term of upstream4 term of upstream3 upstream4+, writes "
                          "upstream1 gradients2",
                          "b1 lane 1 reads minibatch0 upstream1, writes gradients1",
                          "b0 lane 0 reads minibatch0 upstream1, writes gradients0",
                      });
  CHECK(before(g, 2) == std::vector<std::uint32_t>{0, 1});
  CHECK(before(g, 4) == std::vector<std::uint32_t>{1, 2});
  CHECK(before(g, 8) == std::vector<std::uint32_t>{2, 5, 6, 7});
  CHECK(g.lanes() == 2);
  CHECK(g.follows(node_index{9}, node_index{7}));
  CHECK_FALSE(g.follows(node_index{7}, node_index{6}));
}

TEST_CASE("terms have the bytes of their shards, sums those of what they are added to", "[work_graph]") {
  const auto g = train_graph(two_groups());
  const auto bytes = [&](block_kind kind, std::uint32_t shard) {
    block_id id;
    id.kind = kind;
    id.shard = shard_index{shard};
    return g.block(g.find(id, {}).value().block).bytes;
  };
  CHECK(bytes(block_kind::joined, 2) == 10_B);
  CHECK(bytes(block_kind::activation, 4) == 14_B);
  CHECK(bytes(block_kind::upstream, 4) == 10_B);
  CHECK(bytes(block_kind::term, 3) == 12_B);
  CHECK(bytes(block_kind::upstream, 1) == 10_B);
}

TEST_CASE("waves of shards side by side have a lane for each piece, and pass their sums on", "[work_graph]") {
  const auto g = train_graph(two_groups(2));
  CHECK(g.lanes() == 4);
  for (std::uint32_t s = 0; s < 6; ++s) {
    unit u;
    u.way = direction::backward;
    u.shard = shard_index{s};
    u.piece = piece_index{s == 1 || s == 4 ? 1U : 0U};
    const auto first = g.find(u).value();
    u.wave = wave_index{1};
    u.first_micro_batch = micro_batch_index{1};
    const auto second = g.find(u).value();
    CHECK(g.lane_of(first) == u.piece.value);
    CHECK(g.lane_of(second) == 2 + u.piece.value);
    CHECK(g.follows(second, first));
  }
}

TEST_CASE("an evaluation visits shards side by side one after the other, and keeps what is added again",
          "[work_graph]") {
  const auto g = evaluation_graph(two_groups(), 1);
  CHECK(g.lanes() == 1);
  CHECK(text_of(g) == std::vector<std::string>{
                          "e0 lane 0 reads minibatch0, writes activation0",
                          "e1 lane 0 reads minibatch0, writes activation1",
                          "e2 lane 0 reads activation0 activation1, writes activation2 joined activations2",
                          "e3 lane 0 reads activation2, writes activation3",
                          "e4 lane 0 reads activation2, writes activation4",
                          "e5 lane 0 reads joined activations2 activation3 activation4 targets5, writes loss5",
                      });
  CHECK(before(g, 4) == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("below the first trained shard nothing is passed back", "[work_graph]") {
  auto outline = two_groups();
  outline.shape.first_trained = 2;
  CHECK(text_of(train_graph(outline), node_index{8}) ==
        "b2 lane 0 reads joined activations2 term of upstream4 term of upstream3, writes gradients2");
  outline.shape.first_trained = 3;
  const auto g = train_graph(outline);
  CHECK(text_of(g, node_index{7}) == "b3 lane 0 reads activation2 upstream4, writes gradients3");
  CHECK(g.size() == 8);
}

TEST_CASE("groups that cannot be are refused", "[work_graph]") {
  const auto with = [](std::vector<shard_group> groups, std::uint32_t first_trained = 0) {
    auto outline = two_groups();
    outline.groups = std::move(groups);
    outline.shape.first_trained = first_trained;
    return outline;
  };
  CHECK_NOTHROW(train_graph(with({{.first = 1, .count = 2}})));
  CHECK_THROWS_AS(train_graph(with({{.first = 4, .count = 2}})), fault_error);  // the last shard
  CHECK_THROWS_AS(train_graph(with({{.first = 0, .count = 2}, {.first = 2, .count = 2}})), fault_error);
  CHECK_THROWS_AS(train_graph(with({{.first = 0, .count = 3}})), fault_error);  // more than the shape has
  CHECK_THROWS_AS(train_graph(with({{.first = 1, .count = 2, .join = term_join::sum_with_input}})), fault_error);
  CHECK_THROWS_AS(train_graph(with({{.first = 0, .count = 2}}, 1)), fault_error);
}

}  // namespace side_by_side_test
