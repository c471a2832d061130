#include "partition/plan/plan_outline.hpp"

#include "partition/graph/evaluation_graph.hpp"
#include "partition/graph/train_graph.hpp"
#include "partition/plan/shared_bases.hpp"

#include <set>

namespace hydra {

namespace {

std::optional<block_id> base_name(const shard_plan& s, model_id model, shard_index shard) {
  if (s.base == byte_count{}) {
    return std::nullopt;
  }
  const block_id own{
      .model = model, .replica = {}, .step = {}, .kind = block_kind::base, .shard = shard, .micro_batch = {}};
  return shared_name(s).value_or(own);
}

}  // namespace

model_outline outline_of(const model_plan& plan, model_id model) {
  model_outline outline{.model = model,
                        .shape = plan.shape(),
                        .minibatch = plan.shards.front().input,
                        .targets = plan.shards.back().targets,
                        .loss = plan.slot ? byte_count{} : byte_count{sizeof(float)}};
  for (const auto& s : plan.shards) {
    const shard_index shard{static_cast<std::uint32_t>(outline.shards.size())};
    outline.shards.push_back({.parameters = s.parameters,
                              .base = base_name(s, model, shard),
                              .base_bytes = s.base,
                              .gradients = s.gradient_bytes(),
                              .partial_sum = s.partial_sum_bytes(),
                              .output = s.output,
                              .saved = s.saved,
                              .state = s.state_buffers(),
                              .steps_on_device = s.steps_on_device});
  }
  return outline;
}

model_graphs graphs_of(const model_plan& plan, model_id model) {
  const auto outline = outline_of(plan, model);
  model_graphs graphs{.step = train_graph(outline)};
  const auto& range = plan.evaluation;
  const auto last = range.micro_batches > 0 ? (range.rounds() - 1) * range.round : 0;
  for (const auto n : std::set{range.size_of(0), range.size_of(last)}) {
    if (n > 0) {
      graphs.rounds.emplace(n, evaluation_graph(outline, n));
    }
  }
  return graphs;
}

}  // namespace hydra
