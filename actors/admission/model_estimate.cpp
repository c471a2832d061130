#include "actors/admission/model_estimate.hpp"

#include "actors/admission/prepared_model.hpp"
#include "partition/checkpoint/checkpoint_size.hpp"

namespace hydra {

namespace {

/// Forward visits, but of the last shard, and backward visits of those that are trained, of all lanes together.
duration step_time(const model_plan& plan) {
  duration sum{};
  for (std::size_t s = 0; s < plan.shards.size(); ++s) {
    const bool last = s + 1 == plan.shards.size();
    sum += last ? duration{} : plan.shards[s].forward_time;
    sum += s < plan.first_trained ? duration{} : plan.shards[s].backward_time;
  }
  return sum;
}

duration evaluation_time(const model_plan& plan) {
  duration sum{};
  for (const auto& s : plan.shards) {
    sum += s.evaluation_time * static_cast<std::int64_t>(plan.evaluation.micro_batches);
  }
  return sum;
}

}  // namespace

model_estimate estimate_of(const model_description& m, const prepared_model& p, const model_plan& plan) {
  const auto every = m.validate ? m.validate->every_steps : 0;
  const auto evaluations = every > 0 ? p.steps / every : 1;
  return {.name = m.name,
          .identity = p.identity,
          .arithmetic = {},
          .steps = p.steps,
          .work = step_time(plan) * p.steps + evaluation_time(plan) * static_cast<std::int64_t>(evaluations),
          .checkpoint = checkpoint_bytes(*p.model, m.optimizer),
          .nodes = m.nodes,
          .gathers = gathers_sums(*p.model)};
}

}  // namespace hydra
