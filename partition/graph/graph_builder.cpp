#include "partition/graph/graph_builder.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <string>

namespace hydra {

void append(std::vector<block_use>& to, const std::vector<block_use>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

graph_builder::graph_builder(const model_outline& model, pass_kind pass) : model_(model), pass_(pass) {
  check_shape(model.shape);
  if (model.shards.size() != model.shape.shards) {
    throw fault_error(fault_code::internal, "a graph of " + std::to_string(model.shape.shards) +
                                                " shards has bytes of " + std::to_string(model.shards.size()));
  }
  check_groups();
}

void graph_builder::check_groups() const {
  std::uint32_t before = 0;  // first shard that may be in the next group
  for (const auto& g : model_.groups) {
    const bool begins_late = !g.adds_to_input() || g.first > 1;
    const bool whole = model_.shape.first_trained <= g.first || model_.shape.first_trained >= g.past();
    if (g.first < before || g.count < 2 || g.count > model_.shape.abreast || g.past() >= model_.shape.shards ||
        !begins_late || !whole || !g.allows_meeting_at(model_.shape.meets)) {
      throw fault_error(fault_code::internal,
                        "a graph: shards from " + std::to_string(g.first) + " on cannot be side by side");
    }
    before = g.past() + 1;
  }
}

const shard_group* graph_builder::group_before(shard_index s) const {
  const auto found = std::ranges::find(model_.groups, s.value, &shard_group::past);
  return found == model_.groups.end() ? nullptr : &*found;
}

const shard_group* graph_builder::group_behind(shard_index s) const {
  const auto found = std::ranges::find(model_.groups, s.value + 1, &shard_group::first);
  return found == model_.groups.end() ? nullptr : &*found;
}

shard_index graph_builder::first_of(shard_index s) const {
  const auto* group = group_of(s);
  return group ? shard_index{group->first} : s;
}

shard_index graph_builder::below(shard_index s) const {
  s = first_of(s);
  return s.value == 0 ? s : shard_index{s.value - 1};
}

byte_count graph_builder::input_of(shard_index s) const {
  s = first_of(s);
  if (s.value == 0) {
    return model_.minibatch;
  }
  const auto* terms = group_before(s);
  if (terms == nullptr) {
    return shard(shard_index{s.value - 1}).output;
  }
  if (terms->adds_to_input()) {
    return input_of(shard_index{terms->first - 1});
  }
  auto bytes = shard(shard_index{terms->first}).output;
  for (auto t = terms->first + 1; terms->join == term_join::columns && t < terms->past(); ++t) {
    bytes += shard(shard_index{t}).output;
  }
  return bytes;
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

std::vector<block_use> graph_builder::use_parts(block_role role, const work_unit& u, block_id first, byte_count each,
                                                shard_index lower) {
  const auto all = u.what.micro_batches;
  const auto size = pass_ == pass_kind::train ? std::min(all, model_.shape.batches_of(lower.value)) : all;
  std::vector<block_use> uses;
  for (std::uint32_t k = 0; k < all; k += size) {
    first.micro_batch = micro_batch_index{u.what.first_micro_batch.value + k};
    uses.push_back(use(role, {.id = first, .bytes = each, .parts = size}));
  }
  return uses;
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

std::vector<block_use> graph_builder::boundary_below(const work_unit& u, shard_index s) {
  s = first_of(s);
  const auto bytes = input_of(s);
  const auto lower = below(s);
  if (s.value == 0) {
    return use_parts(block_role::input, u, name(block_kind::minibatch, s), bytes, lower);
  }
  const auto id = group_before(s) ? name(block_kind::joined, s) : name(block_kind::activation, lower);
  return use_parts(block_role::input, u, id, bytes, lower);
}

void graph_builder::read_joined_input(work_unit& u) { append(u.reads, boundary_below(u, u.what.shard)); }

void graph_builder::read_input(work_unit& u) {
  const auto* terms = group_before(u.what.shard);
  if (terms == nullptr) {
    read_joined_input(u);
    return;
  }
  if (terms->adds_to_input()) {
    append(u.reads, boundary_below(u, shard_index{terms->first - 1}));
  }
  for (shard_index t{terms->first}; t.value < terms->past(); t = t.next()) {
    append(u.reads, use_parts(block_role::input, u, name(block_kind::activation, t), shard(t).output, t));
  }
}

void graph_builder::write_joined(work_unit& u) {
  if (group_before(u.what.shard)) {
    const auto s = u.what.shard;
    append(u.writes, use_parts(block_role::joined, u, name(block_kind::joined, s), input_of(s), s));
  }
}

void graph_builder::read_targets(work_unit& u) {
  const auto s = u.what.shard;
  append(u.reads, use_parts(block_role::targets, u, name(block_kind::targets, s), model_.targets, s));
}

void graph_builder::write_boundary(work_unit& u) {
  const auto s = u.what.shard;
  append(u.writes, use_parts(block_role::output, u, name(block_kind::activation, s), shard(s).output, s));
}

void graph_builder::write_loss(work_unit& u, byte_count each) {
  const auto id = name(block_kind::loss, u.what.shard, u.what.first_micro_batch.value);
  u.writes.push_back(use(block_role::loss, {.id = id, .bytes = each * u.what.micro_batches}));
}

}  // namespace hydra
