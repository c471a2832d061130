#pragma once
// What the builders of graphs share: the table of blocks, and what every unit of a shard reads.

#include "partition/graph/model_outline.hpp"
#include "runtime/base/work_graph.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace hydra {

class graph_builder {
 public:
  /// Of blocks of that pass. Throws fault_error{bad_input} for a shape that is none, {internal} if the outline has
  /// another number of shards.
  graph_builder(const model_outline& model, pass_kind pass);

  const model_outline& model() const noexcept { return model_; }
  bool is_last(shard_index s) const noexcept { return s.value + 1 == model_.shape.shards; }
  const shard_outline& shard(shard_index s) const { return model_.shards.at(s.value); }

  /// A name in step 0 of a block of the model and pass.
  block_id name(block_kind kind, shard_index shard, std::uint32_t part = 0) const;
  /// The same block whenever the name is the same.
  block_use use(block_role role, const graph_block& block);
  /// A block for each of the unit's micro-batches.
  block_use use_parts(block_role role, const work_unit& u, block_id first, byte_count each);

  // -- what units read and write -----------------------------------------------------------------------------------
  /// Parameters, then the base.
  void read_shard(work_unit& u);
  /// The minibatch, or the boundary below.
  void read_input(work_unit& u);
  void read_targets(work_unit& u);
  void write_boundary(work_unit& u);
  /// `each`: bytes of one micro-batch.
  void write_loss(work_unit& u, byte_count each);

  void add(work_unit u) { units_.push_back(std::move(u)); }
  work_graph graph() && { return {std::move(units_), std::move(blocks_)}; }

 private:
  model_outline model_;
  pass_kind pass_;
  std::vector<work_unit> units_;
  std::vector<graph_block> blocks_;
  std::map<std::pair<bool, block_id>, block_index> known_;  ///< by whether they are shared
};

}  // namespace hydra
