#include "partition/graph/graph_builder.hpp"

#include "runtime/base/fault.hpp"

#include <string>

namespace hydra {

graph_builder::graph_builder(const model_outline& model, pass_kind pass) : model_(model), pass_(pass) {
  check_shape(model.shape);
  if (model.shards.size() != model.shape.shards) {
    throw fault_error(fault_code::internal, "a graph of " + std::to_string(model.shape.shards) +
                                                " shards has bytes of " + std::to_string(model.shards.size()));
  }
}

block_id graph_builder::name(block_kind kind, shard_index shard, std::uint32_t part) const {
  return {.model = {},
          .replica = {},
          .step = {},
          .pass = pass_,
          .kind = kind,
          .shard = shard,
          .micro_batch = micro_batch_index{part}};
}

block_use graph_builder::use(block_role role, const graph_block& block) {
  const block_index next{static_cast<std::uint32_t>(blocks_.size())};
  const auto [at, added] = known_.try_emplace(std::pair{block.shared, block.id}, next);
  if (added) {
    blocks_.push_back(block);
  }
  return {.role = role, .block = at->second};
}

block_use graph_builder::use_parts(block_role role, const work_unit& u, block_id first, byte_count each) {
  first.micro_batch = u.what.first_micro_batch;
  return use(role, {.id = first, .bytes = each, .parts = u.what.micro_batches});
}

/// Parameters are the same bytes for training and evaluation.
void graph_builder::read_shard(work_unit& u) {
  const auto& s = shard(u.what.shard);
  auto id = name(block_kind::parameters, u.what.shard);
  id.pass = pass_kind::train;
  u.reads.push_back(use(block_role::parameters, {.id = id, .bytes = s.parameters, .life = block_life::of_version}));
  if (s.base > byte_count{}) {
    id.kind = block_kind::base;
    const bool shared = s.shared.has_value();
    u.reads.push_back(use(block_role::base, {.id = s.shared.value_or(id),
                                             .bytes = s.base,
                                             .life = block_life::of_run,
                                             .shared = shared}));
  }
}

void graph_builder::read_input(work_unit& u) {
  const auto s = u.what.shard;
  const shard_index below{s.value - 1};
  const bool first = s.value == 0;
  const auto id = first ? name(block_kind::minibatch, s) : name(block_kind::activation, below);
  u.reads.push_back(use_parts(block_role::input, u, id, first ? model_.minibatch : shard(below).output));
}

void graph_builder::read_targets(work_unit& u) {
  u.reads.push_back(use_parts(block_role::targets, u, name(block_kind::targets, u.what.shard), model_.targets));
}

void graph_builder::write_boundary(work_unit& u) {
  const auto s = u.what.shard;
  u.writes.push_back(use_parts(block_role::output, u, name(block_kind::activation, s), shard(s).output));
}

void graph_builder::write_loss(work_unit& u, byte_count each) {
  const auto id = name(block_kind::loss, u.what.shard, u.what.first_micro_batch.value);
  u.writes.push_back(use(block_role::loss, {.id = id, .bytes = each * u.what.micro_batches}));
}

}  // namespace hydra
