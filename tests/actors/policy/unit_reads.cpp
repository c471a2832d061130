#include "actors/policy/unit_reads.hpp"

#include "partition/plan/plan_outline.hpp"
#include "tests/partition/graph/uneven_plan.hpp"
#include "tests/support/block_names.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

/// What the unit before it in its lane leaves for a unit.
byte_count left_for(const unit& u, const model_plan& plan) {
  const auto s = u.shard.value;
  const bool turns_back = u.way == direction::backward && s + 1 < plan.shards.size();
  const auto each = turns_back ? plan.shards[s].output : s == 0 ? byte_count{} : plan.shards[s - 1].output;
  return each * u.micro_batches;
}

void check_reads(const work_graph& graph, const model_plan& plan) {
  for (node_index n; n.value < graph.size(); n = n.next()) {
    auto u = graph.at(n).what;
    u.model = model_id{3};
    u.step = step_index{5};
    INFO(to_string(u));
    const auto& shard = plan.shards[u.shard.value];
    const auto reads = reads_of(graph, n, model_graphs::turn_of(u));
    CHECK(reads.parameters == shard.base + shard.parameters);
    CHECK(reads.base == (shard.is_mostly_frozen() ? std::optional(base_of(u, plan)) : std::nullopt));
    CHECK(reads.boundary == left_for(u, plan));
  }
}

}  // namespace

TEST_CASE("a unit's parameters, its base and what the unit before it leaves are those of the plan", "[policy]") {
  for (const auto& shape : shapes_of(2)) {
    for (const bool saves : {false, true}) {
      auto plan = uneven_plan(shape, {.saves = saves});
      plan.shards.back().base = plan.shards.back().parameters;  // not more than half
      plan.evaluation = {.micro_batches = 5, .round = 2};
      const auto graphs = graphs_of(plan);
      check_reads(graphs->step, plan);
      for (const auto& [micro_batches, round] : graphs->rounds) {
        check_reads(round, plan);
      }
    }
  }
}
