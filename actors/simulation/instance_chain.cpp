#include "actors/simulation/instance_chain.hpp"

#include "partition/graph/train_graph.hpp"

#include <cmath>
#include <memory>

namespace hydra {

instance_chain::instance_chain(const instance_model& model, model_id id, model_id base_owner)
    : id_(id),
      graph_(shape_of(model)),
      steps_(model.steps),
      scale_(model.remaining_scale) {
  for (std::uint32_t s = 0; s < shards(); ++s) {
    const auto base = base_copy(model, s);
    const block_id name{.model = base_owner,
                        .replica = {},
                        .step = {},
                        .kind = block_kind::base,
                        .shard = shard_index{s},
                        .micro_batch = {}};
    bases_.push_back(base > duration::zero() ? std::optional(name) : std::nullopt);
  }
  for (std::uint32_t i = 0; i < units_per_step(); ++i) {
    const auto s = shard_of(i);
    const bool last = s + 1 == shards();
    costs_.push_back(is_forward(i) ? model.forward[s]
                                   : model.backward[s] + (last ? model.forward[s] : duration{}));
  }
  left_in_step_ = costs_;
  for (auto i = costs_.size() - 1; i-- > 0;) {
    left_in_step_[i] += left_in_step_[i + 1];
  }
}

duration instance_chain::remaining(std::uint32_t step, std::uint32_t index) const {
  if (step >= steps_) {
    return {};
  }
  const auto compute = left_in_step_.front() * (steps_ - 1 - step) + left_in_step_[index];
  return duration{std::llround(scale_ * static_cast<double>(compute.count()))};
}

unit instance_chain::unit_at(std::uint32_t lane, std::uint32_t step, std::uint32_t index) const {
  auto u = graph_.at(lane * units_per_step() + index);
  u.model = id_;
  u.step = step_index{step};
  return u;
}

ready_unit instance_chain::announcement(const unit& u) const {
  const auto step = u.step.value;
  const auto index = index_of(u);
  ready_unit r;
  r.next = u;
  r.remaining = remaining(step, index);
  r.cost = cost(index);
  const bool at_boundary = ends_step(index);
  const bool over = at_boundary && step + 1 == steps_;
  r.then_remaining = over ? duration{} : at_boundary ? remaining(step + 1, 0) : remaining(step, index + 1);
  r.then_cost = over ? duration{} : cost(at_boundary ? 0 : index + 1);
  return r;
}

model_graphs_ptr graphs_of(const instance_model& model, const instance_chain& chain) {
  model_outline outline{.shape = chain.graph().shape()};
  for (std::uint32_t s = 0; s < chain.shards(); ++s) {
    outline.shards.push_back({.parameters = bytes_for(model.h2d[s]),
                              .base = bytes_for(base_copy(model, s)),
                              .shared = chain.base_of(s),
                              .gradients = {},
                              .partial_sum = {},
                              .output = bytes_for(model.activation)});
  }
  return std::make_shared<const model_graphs>(model_graphs{train_graph(outline)});
}

}  // namespace hydra
