#pragma once
// Plans without layers: the same words for the same graphs in arithmetic and as data.

#include "partition/plan/plan.hpp"
#include "runtime/base/work_graph.hpp"
#include "tests/support/block_names.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace hydra::test {

struct uneven_options {
  bool saves = false;
  std::uint32_t stepped = 0;  ///< so many of the first trained shards are stepped on the device
  bool slots = false;         ///< as in a simulation that counts them
};

/// No two kinds of its blocks have the same number of bytes.
inline shard_plan uneven_shard(const step_shape& shape, std::uint32_t s, const uneven_options& o) {
  const auto bytes = [&](std::uint64_t kind) { return byte_count{kind * 100 + s}; };
  const bool last = s + 1 == shape.shards;
  const bool trained = s >= shape.first_trained;
  shard_plan p;
  p.parameters = trained ? bytes(1) : byte_count{};
  p.gradients = bytes(2);
  p.masters = bytes(3);
  p.base = s == 1 ? byte_count{} : bytes(4);
  p.shared_base = s == 2 ? std::optional(base_place{model_id{9}, shard_index{7}}) : std::nullopt;
  p.moments = {bytes(5), bytes(6)};
  p.input = bytes(s == 0 ? 7 : 8);
  p.output = last ? byte_count{} : bytes(9);
  p.targets = last ? bytes(10) : byte_count{};
  p.saved = o.saves && trained && !last ? bytes(11) : byte_count{};
  p.steps_on_device = trained && s < shape.first_trained + o.stepped;
  return p;
}

inline model_plan uneven_plan(const step_shape& shape, const uneven_options& o = {}) {
  model_plan plan;
  plan.micro_batches = shape.micro_batches;
  plan.replicas = shape.replicas;
  plan.waves = shape.waves;
  plan.first_trained = shape.first_trained;
  if (o.slots) plan.slot = byte_count{1};
  for (std::uint32_t s = 0; s < shape.shards; ++s) plan.shards.push_back(uneven_shard(shape, s, o));
  return plan;
}

/// 1 to 4 shards, the first ones frozen or not, in 1 to 3 replicas of 1 to 3 waves of that many micro-batches.
inline std::vector<step_shape> shapes_of(std::uint32_t lane_size) {
  std::vector<step_shape> all;
  for (std::uint32_t shards = 1; shards <= 4; ++shards) {
    for (std::uint32_t frozen = 0; frozen < shards; ++frozen) {
      for (std::uint32_t lanes = 0; lanes < 9; ++lanes) {
        const auto replicas = lanes / 3 + 1;
        const auto waves = lanes % 3 + 1;
        all.push_back({.shards = shards,
                       .micro_batches = replicas * waves * lane_size,
                       .replicas = replicas,
                       .waves = waves,
                       .first_trained = frozen});
      }
    }
  }
  return all;
}

/// By the functions on names: the first input of all micro-batches, then the second.
inline std::vector<block_id> inputs_by_name(const unit& u, const step_shape& shape) {
  std::vector<block_id> first, second;
  for (std::uint32_t i = 0; i < u.micro_batches; ++i) {
    const auto in = inputs_of(u, shape, micro_batch_index{u.first_micro_batch.value + i});
    first.push_back(in.input);
    if (in.second) second.push_back(*in.second);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Of all parts.
inline std::vector<block_id> names_of(const work_graph& g, const std::vector<block_use>& uses, const graph_turn& turn) {
  std::vector<block_id> names;
  for (const auto& use : uses) {
    for (std::uint32_t k = 0; k < g.block(use.block).parts; ++k) names.push_back(g.name({use.block, k}, turn));
  }
  return names;
}

/// Of its writes, in their order.
inline std::vector<block_id> written_to_host(const work_graph& g, node_index n, const graph_turn& turn) {
  std::vector<block_use> uses;
  for (const auto& use : g.at(n).writes) {
    if (g.block(use.block).life != block_life::on_device) uses.push_back(use);
  }
  return names_of(g, uses, turn);
}

/// Blocks of the turn that no unit reads after this one.
inline std::set<block_id> last_read_by(const work_graph& g, node_index n, const graph_turn& turn) {
  std::vector<block_use> last;
  for (const auto& use : g.at(n).reads) {
    if (g.block(use.block).life == block_life::of_step && g.last_reader(use.block) == n) last.push_back(use);
  }
  const auto names = names_of(g, last, turn);
  return {names.begin(), names.end()};
}

/// Blocks whose bytes are not those of the plan, or that are not found by their names.
inline std::vector<block_id> wrong_blocks(const work_graph& g, const model_plan& plan, const graph_turn& turn) {
  std::vector<block_id> wrong;
  for (block_index b; b.value < g.blocks(); b = b.next()) {
    for (block_part each{.block = b}; each.part < g.block(b).parts; ++each.part) {
      const auto id = g.name(each, turn);
      if (g.block(b).bytes != bytes_of(plan, id) || g.find(id, turn) != each) wrong.push_back(id);
    }
  }
  return wrong;
}

}  // namespace hydra::test
