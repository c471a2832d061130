// Graphs of models whose replicas meet.

#include "partition/graph/train_graph.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace meeting_test {

namespace {

/// Two replicas of two micro-batches each, which meet before shard 2.
model_outline meeting() {
  model_outline outline{
      .shape = {.shards = 4, .micro_batches = 4, .replicas = 2, .meets = 2}, .minibatch = 8_B, .targets = 4_B, .loss = 4_B};
  for (std::uint32_t s = 0; s < 4; ++s)
    outline.shards.push_back(
        {.parameters = 100_B, .gradients = 100_B, .partial_sum = 100_B, .output = s < 3 ? byte_count{10 + s} : 0_B});
  return outline;
}

/// Kind, shard, first micro-batch and how many.
std::string text_of(const work_graph& g, const std::vector<block_use>& uses) {
  std::string text;
  for (const auto& use : uses) {
    const auto& block = g.block(use.block);
    if (use.role == block_role::parameters) continue;
    const bool of_batches = use.role != block_role::sum && use.role != block_role::loss;
    text += " " + to_string(block.id.kind) + std::to_string(block.id.shard.value);
    if (of_batches) text += ":" + std::to_string(block.id.micro_batch.value) + "+" + std::to_string(block.parts);
  }
  return text;
}

std::vector<std::string> text_of(const work_graph& g) {
  std::vector<std::string> all;
  for (node_index n; n.value < g.size(); n = n.next()) {
    const auto& u = g.at(n);
    all.push_back(to_string(u.what.way).substr(0, 1) + std::to_string(u.what.shard.value) + " lane " +
                  std::to_string(g.lane_of(n)) + " reads" + text_of(g, u.reads) + ", writes" + text_of(g, u.writes));
  }
  return all;
}

}  // namespace

TEST_CASE("where replicas meet one unit reads what each has left, and passes back to each", "[work_graph]") {
  const auto g = train_graph(meeting());
  CHECK(text_of(g) ==
        std::vector<std::string>{
            "f0 lane 0 reads minibatch0:0+2, writes activation0:0+2",
            "f1 lane 0 reads activation0:0+2, writes activation1:0+2",
            "f0 lane 1 reads minibatch0:2+2, writes activation0:2+2",
            "f1 lane 1 reads activation0:2+2, writes activation1:2+2",
            "f2 lane 0 reads activation1:0+2 activation1:2+2, writes activation2:0+4",
            "b3 lane 0 reads activation2:0+4 targets3:0+4, writes upstream2:0+4 gradients3 loss3",
            "b2 lane 0 reads activation1:0+2 activation1:2+2 upstream2:0+4, writes upstream1:0+2 upstream1:2+2 "
            "gradients2",
            "b1 lane 0 reads activation0:0+2 upstream1:0+2, writes upstream0:0+2 gradients1",
            "b0 lane 0 reads minibatch0:0+2 upstream0:0+2, writes gradients0",
            "b1 lane 1 reads activation0:2+2 upstream1:2+2, writes upstream0:2+2 gradients1",
            "b0 lane 1 reads minibatch0:2+2 upstream0:2+2, writes gradients0",
        });
  CHECK(g.lanes() == meeting().shape.lanes());
  CHECK(g.predecessors(node_index{4}).size() == 2);
  CHECK(g.follows(node_index{9}, node_index{6}));
  CHECK_FALSE(g.follows(node_index{9}, node_index{7}));
}

TEST_CASE("pieces side by side where replicas meet have lanes of their own", "[work_graph]") {
  auto outline = meeting();
  outline.shape.meets = 1;
  outline.shape.abreast = 2;
  outline.groups = {{.first = 1, .count = 2, .join = term_join::columns}};
  const auto g = train_graph(outline);
  CHECK(g.lanes() == 3);
  CHECK(g.lanes() == outline.shape.lanes());
  CHECK(text_of(g)[3] == "f2 lane 2 reads activation0:0+2 activation0:2+2, writes activation2:0+4");
  CHECK(text_of(g)[7] == "b0 lane 0 reads minibatch0:0+2 term of upstream2:0+2 term of upstream1:0+2, writes gradients0");
  outline.shape.meets = 2;  // within the group
  CHECK_THROWS_AS(train_graph(outline), fault_error);
  outline.shape.meets = 3;  // behind it
  CHECK_THROWS_AS(train_graph(outline), fault_error);
}

TEST_CASE("shards below the first trained one pass nothing back, also where replicas meet", "[work_graph]") {
  auto outline = meeting();
  outline.shape.first_trained = 2;
  const auto g = train_graph(outline);
  CHECK(g.size() == 7);
  CHECK(text_of(g)[6] == "b2 lane 0 reads activation1:0+2 activation1:2+2 upstream2:0+4, writes gradients2");
}

}  // namespace meeting_test
