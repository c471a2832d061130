#include "actors/simulation/instance_chain.hpp"

#include "partition/graph/train_graph.hpp"

#include <cmath>
#include <memory>

namespace hydra {

namespace {

model_outline instance_outline(const instance_model& model, model_id base_owner) {
  model_outline outline{.shape = shape_of(model)};
  for (shard_index s; s.value < outline.shape.shards; s = s.next()) {
    const bool last = s.value + 1 == outline.shape.shards;
    const auto sum = bytes_for(model.d2h_gradient[s.value]);
    outline.shards.push_back({.parameters = bytes_for(model.h2d[s.value]),
                              .base = bytes_for(base_copy(model, s.value)),
                              .shared = base_name(model, s, base_owner),
                              .gradients = sum,
                              .partial_sum = sum,
                              .output = last ? byte_count{} : bytes_for(model.activation)});
  }
  return outline;
}

/// The last shard's forward is part of its backward unit.
duration unit_cost(const unit& u, const instance_model& model) {
  const auto s = u.shard.value;
  const bool last = s + 1 == model.forward.size();
  return u.way == direction::forward ? model.forward[s] : model.backward[s] + (last ? model.forward[s] : duration{});
}

}  // namespace

instance_chain::instance_chain(const instance_model& model, model_id id, model_id base_owner)
    : id_(id),
      graphs_(std::make_shared<const model_graphs>(model_graphs{train_graph(instance_outline(model, base_owner))})),
      steps_(model.steps),
      scale_(model.remaining_scale),
      units_(graph().size()),
      whole_sums_(model.forward.size()) {
  for (node_index n; n.value < graph().size(); n = n.next()) {
    units_[n.value] = unit_of(n, model);
    const auto& sum = at(n).sum;
    if (sum && graph().readers(*sum).empty()) {
      whole_sums_[shard_of(n).value].push_back(*sum);
    }
  }
  for (auto n = graph().size(); n-- > 0;) {
    const bool last = graph().ends_lane(node_index{n});  // without pieces a lane's nodes are adjacent
    units_[n].left = units_[n].cost + (last ? duration{} : units_[n + 1].left);
  }
}

instance_unit instance_chain::unit_of(node_index n, const instance_model& model) const {
  instance_unit u{.cost = unit_cost(graph().at(n).what, model)};
  for (const auto& [role, block] : graph().at(n).reads) {
    const auto writer = graph().writer(block);
    if (role == block_role::parameters) {
      u.parameters = block;
    } else if (role == block_role::base) {
      u.base = block;
    } else if (role == block_role::sum) {
      u.sum_before = block;
    } else if (writer && writer->next() == n) {
      u.boundary = block;
    } else if (writer) {
      u.checkpoint = block;
    }
  }
  for (const auto& [role, block] : graph().at(n).writes) {
    if (role == block_role::output) {
      u.output = block;
    } else if (role == block_role::sum) {
      u.sum = block;
    }
  }
  return u;
}

duration instance_chain::copy_of(block_index b) const {
  return duration{static_cast<std::int64_t>(graph().block(b).bytes.value())};
}

chain_position instance_chain::after(const chain_position& p) const {
  const auto lane = graph().lane(graph().lane_of(p.node));
  return graph().ends_lane(p.node) ? chain_position{p.step + 1, lane.front()} : chain_position{p.step, p.node.next()};
}

duration instance_chain::remaining(const chain_position& p) const {
  if (p.step >= steps_) {
    return {};
  }
  const auto compute = units_.front().left * (steps_ - 1 - p.step) + at(p.node).left;  // all lanes are equal
  return duration{std::llround(scale_ * static_cast<double>(compute.count()))};
}

unit_ready instance_chain::announcement(const chain_position& p) const {
  const auto& u = at(p.node);
  const auto then = after(p);
  const bool over = then.step == steps_;
  unit_ready r;
  r.what = graph().at(p.node).what;
  r.what.model = id_;
  r.what.step = step_index{p.step};
  r.remaining = remaining(p);
  r.cost = u.cost;
  r.then_remaining = remaining(then);
  r.then_cost = over ? duration{} : at(then.node).cost;
  return r;
}

std::optional<block_id> base_name(const instance_model& model, shard_index shard, model_id base_owner) {
  const block_id name{.model = base_owner,
                      .replica = {},
                      .step = {},
                      .kind = block_kind::base,
                      .shard = shard,
                      .micro_batch = {}};
  return base_copy(model, shard.value) > duration::zero() ? std::optional(name) : std::nullopt;
}

}  // namespace hydra
