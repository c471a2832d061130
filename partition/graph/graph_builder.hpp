#pragma once
// What the builders of graphs share: the table of blocks, and what every unit of a shard reads.

#include "partition/graph/model_outline.hpp"
#include "runtime/base/work_graph.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace hydra {

void append(std::vector<block_use>& to, const std::vector<block_use>& more);

class graph_builder {
 public:
  /// Of blocks of that pass. Throws fault_error{bad_input} for a shape that is none, {internal} if the outline has
  /// another number of shards, or groups of shards that do not suit it.
  graph_builder(const model_outline& model, pass_kind pass);

  const model_outline& model() const noexcept { return model_; }
  bool is_last(shard_index s) const noexcept { return s.value + 1 == model_.shape.shards; }
  const shard_outline& shard(shard_index s) const { return model_.shards.at(s.value); }
  /// Null: it is visited alone.
  const shard_group* group_of(shard_index s) const { return hydra::group_of(s, model_.groups); }
  const shard_group* group_before(shard_index s) const;  ///< that ends there
  const shard_group* group_behind(shard_index s) const;  ///< that begins there
  /// What a shard reads of a micro-batch.
  byte_count input_of(shard_index s) const;
  /// The first one of its group, or itself.
  shard_index first_of(shard_index s) const;
  /// That before it, or before its group; of the first one itself.
  shard_index below(shard_index s) const;

  /// A name in step 0 of a block of the model and pass.
  block_id name(block_kind kind, shard_index shard, std::uint32_t part = 0) const;
  /// The same block whenever the name is the same.
  block_use use(block_role role, const graph_block& block);
  /// Blocks for each of the unit's micro-batches: in each use those with which the lower shard is visited at a time; of
  /// the minibatch that is the first shard.
  std::vector<block_use> use_parts(block_role role, const work_unit& u, block_id first, byte_count each,
                                   shard_index lower);

  // -- what units read and write -----------------------------------------------------------------------------------
  /// Parameters, then the base.
  void read_shard(work_unit& u);
  /// The minibatch, or the boundary below: what the shards of a group leave, which it adds.
  void read_input(work_unit& u);
  /// The boundary below as one block.
  void read_joined_input(work_unit& u);
  void read_targets(work_unit& u);
  void write_boundary(work_unit& u);
  /// The sum of what it reads, if it reads several inputs.
  void write_joined(work_unit& u);
  /// `each`: bytes of one micro-batch.
  void write_loss(work_unit& u, byte_count each);

  void add(work_unit u) { units_.push_back(std::move(u)); }
  work_graph graph() && { return {std::move(units_), std::move(blocks_)}; }

 private:
  void check_groups() const;
  /// The boundary below, of a unit with these micro-batches, without its terms.
  std::vector<block_use> boundary_below(const work_unit& u, shard_index s);

  model_outline model_;
  pass_kind pass_;
  std::vector<work_unit> units_;
  std::vector<graph_block> blocks_;
  std::map<std::pair<bool, block_id>, block_index> known_;  ///< by whether they are shared
};

}  // namespace hydra
