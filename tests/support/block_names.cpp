#include "tests/support/block_names.hpp"

#include <algorithm>
#include <vector>

namespace hydra::test {

namespace {

pass_kind pass_of(const unit& u) noexcept {
  return u.way == direction::evaluate ? pass_kind::evaluation : pass_kind::train;
}

block_id block(const unit& u, block_kind kind, shard_index shard, micro_batch_index k = {}) {
  return {.model = u.model, .replica = {}, .step = u.step, .pass = pass_of(u), .kind = kind, .shard = shard,
          .micro_batch = k};
}

shard_index below(shard_index s) noexcept { return shard_index{s.value - 1}; }

bool is_last(const unit& u, const step_shape& shape) noexcept { return u.shard.value + 1 == shape.shards; }

template <class Use>
void for_each_micro_batch(const unit& u, Use use) {
  for (std::uint32_t k = 0; k < u.micro_batches; ++k) {
    use(micro_batch_index{u.first_micro_batch.value + k});
  }
}

/// The sum of the unit's replica after its wave.
block_id gradients_of(const unit& u) {
  auto id = block(u, block_kind::gradients, u.shard);
  id.replica = u.replica;
  id.micro_batch = micro_batch_index{u.wave.value};
  return id;
}

}  // namespace

block_id parameters_of(const unit& u) {
  // Parameters are the same bytes for training and evaluation visits of a version.
  return {.model = u.model, .replica = {}, .step = u.step, .pass = pass_kind::train,
          .kind = block_kind::parameters, .shard = u.shard, .micro_batch = {}};
}

block_id base_of(const unit& u, const model_plan& plan) {
  auto id = parameters_of(u);
  id.step = {};
  id.kind = block_kind::base;
  if (const auto& place = plan.shards[u.shard.value].shared_base) {
    id.model = place->model;
    id.shard = place->shard;
  }
  return id;
}

block_id state_block(const unit& u, std::size_t i) {
  auto id = parameters_of(u);
  id.kind = block_kind::state;
  id.micro_batch = micro_batch_index{static_cast<std::uint32_t>(i)};
  return id;
}

std::optional<block_id> sum_before(const unit& u) {
  if (!has_gradients(u) || u.wave.value == 0) {
    return std::nullopt;
  }
  auto id = gradients_of(u);
  --id.micro_batch.value;
  return id;
}

block_id loss_of(const unit& u) { return block(u, block_kind::loss, u.shard, u.first_micro_batch); }

block_id saved_by(const unit& u, micro_batch_index k) { return block(u, block_kind::saved, u.shard, k); }

micro_batch_inputs inputs_of(const unit& u, const step_shape& shape, micro_batch_index k) {
  micro_batch_inputs in;
  in.input = u.shard.value == 0 ? block(u, block_kind::minibatch, u.shard, k)
                                : block(u, block_kind::activation, below(u.shard), k);
  if (u.way != direction::forward && is_last(u, shape)) {
    in.second = block(u, block_kind::targets, u.shard, k);
  } else if (u.way == direction::backward) {
    in.second = block(u, block_kind::upstream, u.shard, k);
  }
  return in;
}

std::optional<block_id> output_of(const unit& u, const step_shape& shape, micro_batch_index k) {
  if (u.way != direction::backward) {
    return is_last(u, shape) ? std::nullopt : std::optional(block(u, block_kind::activation, u.shard, k));
  }
  if (u.shard.value == shape.first_trained) {
    return std::nullopt;
  }
  return block(u, block_kind::upstream, below(u.shard), k);
}

bool steps_shard(const unit& u, const model_plan& plan) {
  return u.way == direction::backward && plan.shards[u.shard.value].steps_on_device;
}

bool has_gradients(const unit& u) noexcept { return u.way == direction::backward; }

bool has_loss(const unit& u, const step_shape& shape) noexcept {
  return u.way != direction::forward && is_last(u, shape);
}

bool ends_step(const unit& u, const step_shape& shape) noexcept {
  return u.way == direction::backward && u.shard.value == shape.first_trained;
}

std::vector<block_id> produced_by(const unit& u, const step_shape& shape) {
  std::vector<block_id> blocks;
  for_each_micro_batch(u, [&](micro_batch_index k) {
    if (const auto out = output_of(u, shape, k)) {
      blocks.push_back(*out);
    }
  });
  if (has_gradients(u)) {
    blocks.push_back(gradients_of(u));
  }
  if (has_loss(u, shape)) {
    blocks.push_back(loss_of(u));
  }
  return blocks;
}

std::vector<block_id> written_back_by(const unit& u, const model_plan& plan) {
  auto blocks = produced_by(u, plan.shape());
  if (!steps_shard(u, plan)) {
    return blocks;
  }
  std::erase(blocks, gradients_of(u));
  auto after = u;
  after.step = u.step.next();
  blocks.push_back(parameters_of(after));
  for (std::size_t i = 0; i < plan.shards[u.shard.value].state_buffers().size(); ++i) {
    blocks.push_back(state_block(after, i));
  }
  return blocks;
}

std::vector<block_id> consumed_by(const unit& u, const step_shape& shape) {
  std::vector<block_id> blocks;
  if (u.way == direction::forward && u.shard.value >= shape.first_trained) {
    return blocks;  // the backward visit recomputes from the same boundary
  }
  for_each_micro_batch(u, [&](micro_batch_index k) {
    const auto in = inputs_of(u, shape, k);
    blocks.push_back(in.input);
    if (in.second) {
      blocks.push_back(*in.second);
    }
  });
  if (const auto sum = sum_before(u)) {
    blocks.push_back(*sum);
  }
  return blocks;
}

namespace {

/// The shard that a block belongs to; that of a base may have been named by another one.
const shard_plan& shard_of(const block_id& id, const std::vector<shard_plan>& shards) {
  const base_place name{id.model, id.shard};
  const auto named =
      id.kind == block_kind::base ? std::ranges::find(shards, name, &shard_plan::shared_base) : shards.end();
  return named == shards.end() ? shards.at(id.shard.value) : *named;
}

std::uint32_t losses_of(const block_id& id, const model_plan& plan) {
  return id.pass == pass_kind::train ? plan.shape().lane_size() : 2 * plan.evaluation.size_of(id.micro_batch.value);
}

}  // namespace

byte_count bytes_of(const model_plan& plan, const block_id& id) {
  const auto& s = shard_of(id, plan.shards);
  switch (id.kind) {
    case block_kind::parameters:
      return s.parameters;
    case block_kind::gradients:
      return id.micro_batch.value + 1 == plan.waves ? s.gradient_bytes() : s.partial_sum_bytes();
    case block_kind::activation:
    case block_kind::upstream:
      return s.output;
    case block_kind::minibatch:
      return s.input;
    case block_kind::targets:
      return s.targets;
    case block_kind::loss:
      return plan.slot ? byte_count{} : byte_count{sizeof(float)} * losses_of(id, plan);
    case block_kind::state:
      return s.state_buffers().at(id.micro_batch.value);
    case block_kind::base:
      return s.base;
    case block_kind::saved:
      return s.saved;
    case block_kind::joined:
    case block_kind::term:
      break;  // of shards side by side, which these functions do not know
  }
  return {};
}

}  // namespace hydra::test
