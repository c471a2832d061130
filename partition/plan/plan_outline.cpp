#include "partition/plan/plan_outline.hpp"

#include "partition/graph/evaluation_graph.hpp"
#include "partition/graph/train_graph.hpp"
#include "partition/plan/shared_bases.hpp"

#include <set>
#include <utility>

namespace hydra {

model_outline outline_of(const model_plan& plan) {
  model_outline outline{.shape = plan.shape(),
                        .minibatch = plan.shards.front().input,
                        .targets = plan.shards.back().targets,
                        .loss = plan.slot ? byte_count{} : byte_count{sizeof(float)}};
  for (const auto& s : plan.shards) {
    outline.shards.push_back({.parameters = s.parameters,
                              .base = s.base,
                              .shared = shared_name(s),
                              .gradients = s.gradient_bytes(),
                              .partial_sum = s.partial_sum_bytes(),
                              .output = s.output,
                              .saved = s.saved,
                              .state = s.state_buffers(),
                              .steps_on_device = s.steps_on_device});
  }
  outline.groups = plan.groups;
  return outline;
}

model_graphs_ptr graphs_of(const model_plan& plan) {
  const auto outline = outline_of(plan);
  model_graphs graphs{.step = train_graph(outline)};
  const auto& range = plan.evaluation;
  const auto last = range.micro_batches > 0 ? (range.rounds() - 1) * range.round : 0;
  for (const auto n : std::set{range.size_of(0), range.size_of(last)}) {
    if (n > 0) {
      graphs.rounds.emplace(n, evaluation_graph(outline, n));
    }
  }
  return std::make_shared<const model_graphs>(std::move(graphs));
}

}  // namespace hydra
