#include "partition/graph/evaluation_graph.hpp"

#include "partition/graph/batch_range.hpp"
#include "partition/plan/plan_outline.hpp"
#include "tests/partition/graph/uneven_plan.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr model_id evaluated_model{3};
constexpr step_index evaluated_step{4};

/// Rounds are dealt to the lanes.
std::vector<unit> evaluation_of(const step_shape& shape, const evaluation_range& range) {
  std::vector<unit> all;
  for (std::uint32_t round = 0; round < range.rounds(); ++round) {
    const auto lane = round % shape.lanes();
    const auto first = round * range.round;
    for (std::uint32_t s = 0; s < shape.shards; ++s) {
      all.push_back({.model = evaluated_model,
                     .replica = replica_id{lane / shape.waves},
                     .wave = wave_index{lane % shape.waves},
                     .piece = {},
                     .step = evaluated_step,
                     .way = direction::evaluate,
                     .shard = shard_index{s},
                     .first_micro_batch = micro_batch_index{first},
                     .micro_batches = range.size_of(first)});
    }
  }
  return all;
}

std::vector<block_id> evaluation_reads(const unit& u, const model_plan& plan) {
  std::vector<block_id> blocks{parameters_of(u)};
  if (plan.shards[u.shard.value].base > byte_count{}) blocks.push_back(base_of(u, plan));
  const auto inputs = inputs_by_name(u, plan.shape());
  blocks.insert(blocks.end(), inputs.begin(), inputs.end());
  return blocks;
}

void check_evaluation(const step_shape& shape, const evaluation_range& range) {
  auto plan = uneven_plan(shape);
  plan.evaluation = range;
  for (const auto& u : evaluation_of(shape, range)) {
    INFO(to_string(u));
    const auto g = evaluation_graph(outline_of(plan), u.micro_batches);
    const graph_turn round{.model = evaluated_model, .step = evaluated_step, .first = u.first_micro_batch};
    const auto n = g.find(u);
    REQUIRE(n);
    CHECK(n->value == u.shard.value);
    CHECK(wrong_blocks(g, plan, round).empty());
    CHECK(names_of(g, g.at(*n).reads, round) == evaluation_reads(u, plan));
    CHECK(names_of(g, g.at(*n).writes, round) == produced_by(u, shape));
    const auto consumed = consumed_by(u, shape);
    CHECK(last_read_by(g, *n, round) == std::set<block_id>(consumed.begin(), consumed.end()));
  }
}

}  // namespace

TEST_CASE("an evaluation as data has the units and blocks of the arithmetic, in every round and lane", "[work_graph]") {
  for (const auto& shape : shapes_of(1)) {
    for (const std::uint32_t micro_batches : {0, 1, 5}) {
      for (const std::uint32_t round : {1, 3, 8}) {
        INFO(shape.shards << " shards, " << shape.replicas << " replicas, " << shape.waves << " waves, "
                          << micro_batches << " micro-batches in rounds of " << round);
        check_evaluation(shape, {.micro_batches = micro_batches, .round = round});
      }
    }
  }
}

TEST_CASE("the micro-batches of a round, or of all lanes of a step, are read together", "[work_graph]") {
  unit u;
  u.way = direction::evaluate;
  u.step = evaluated_step;
  u.first_micro_batch = micro_batch_index{4};
  u.micro_batches = 2;
  CHECK(batch_of(u, 8) == batch_range{pass_kind::evaluation, evaluated_step, micro_batch_index{4}, 2});
  u.way = direction::backward;
  CHECK(batch_of(u, 8) == batch_range{pass_kind::train, evaluated_step, {}, 8});
}

TEST_CASE("a round visits shard after shard, and does not find the names of another round", "[work_graph]") {
  const auto g = evaluation_graph(outline_of(uneven_plan({.shards = 3})), 2);
  REQUIRE(g.size() == 3);
  CHECK(g.lanes() == 1);
  CHECK(g.ready({true, false, false}) == std::vector{node_index{1}});
  const graph_turn now{.model = evaluated_model, .step = evaluated_step, .first = micro_batch_index{4}};
  const graph_turn next{.model = evaluated_model, .step = evaluated_step, .first = micro_batch_index{6}};
  for (const auto& use : g.at(node_index{2}).reads) {
    const auto shared = g.block(use.block).life != block_life::of_step;
    CHECK(g.find(g.name({use.block}, now), next).has_value() == shared);
  }
}
