#pragma once
// The units of a step of a model, or of a round of its evaluations, as data: built once (partition/graph), the same for
// all steps and rounds, and for all models that are cut alike. Who needs an order, a predecessor, the bytes or the last
// reader of a block walks it. Standard library only (policies include this file).

#include "runtime/base/step_position.hpp"
#include "runtime/base/work_unit.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

/// For which a graph is walked: a step of a model; or of the evaluation before it the round that starts with a
/// micro-batch.
struct graph_turn {
  model_id model{};
  step_index step;
  micro_batch_index first{};  ///< 0 of a step
};

struct block_part {
  block_index block;
  std::uint32_t part = 0;
  friend bool operator==(const block_part&, const block_part&) = default;
};

/// Nodes are numbered so that each comes after its predecessors: the units that write what it reads, and the one before
/// it in its lane. A lane has the nodes of one piece of one wave of one replica, in their order: lanes can be computed
/// at the same time, units of a lane cannot. What replicas visit together is of the first one.
/// A step continues the one before by versions: a unit that reads version `step` of a block waits until that is made,
/// by a unit of the step before, which writes version `step` + 1 there, or by the optimizer.
class work_graph {
 public:
  /// Throws fault_error{internal} if a block is there twice or a visit of a shard, or if a block has two writers or is
  /// read before it is written.
  work_graph(std::vector<work_unit> units, std::vector<graph_block> blocks);

  // -- units -------------------------------------------------------------------------------------------------------
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(units_.size()); }
  std::uint32_t shards() const noexcept { return shards_; }
  const work_unit& at(node_index n) const { return units_.at(n.value); }
  /// The node of a unit, whatever its model, step and attempt; of an evaluation also whatever its round and lane. None
  /// if it is not of this graph.
  std::optional<node_index> find(const unit& u) const;
  /// In ascending order, each once.
  std::span<const node_index> predecessors(node_index n) const { return before_.at(n.value); }
  std::span<const node_index> successors(node_index n) const { return behind_.at(n.value); }
  /// True if `later` can only be visited after `earlier`.
  bool follows(node_index later, node_index earlier) const;
  /// Those that are not done and whose predecessors are all done. `done`: of each node.
  std::vector<node_index> ready(const std::vector<bool>& done) const;
  /// At a position in a step of this graph.
  bool is_done(node_index n, const step_position& at) const;

  // -- lanes -------------------------------------------------------------------------------------------------------
  std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(lanes_.size()); }
  std::span<const node_index> lane(std::uint32_t index) const { return lanes_.at(index); }
  std::uint32_t lane_of(node_index n) const { return at_.at(n.value).lane; }
  /// How many units of its lane come before it.
  std::uint32_t place_in_lane(node_index n) const { return at_.at(n.value).place; }
  /// None: it begins its lane.
  std::optional<node_index> before_in_lane(node_index n) const;
  bool ends_lane(node_index n) const;

  // -- blocks ------------------------------------------------------------------------------------------------------
  std::uint32_t blocks() const noexcept { return static_cast<std::uint32_t>(blocks_.size()); }
  const graph_block& block(block_index b) const { return blocks_.at(b.value); }
  block_id name(block_part b, const graph_turn& turn) const;
  /// Its part of that name in that turn; none if no part has it.
  std::optional<block_part> part_of(block_index b, const block_id& id, const graph_turn& turn) const;
  /// What has that name in that turn; none if no unit reads or writes it.
  std::optional<block_part> find(const block_id& id, const graph_turn& turn) const;
  /// None: the data, the step before, or the optimizer.
  std::optional<node_index> writer(block_index b) const { return writer_.at(b.value); }
  /// In ascending order, each once. A block of life `of_step` is freed when all of them have committed; without a
  /// reader it is left to others: whole gradient sums to the optimizer, losses to the model's results.
  std::span<const node_index> readers(block_index b) const { return readers_.at(b.value); }
  /// Its reader that follows all others; none if the order of some is open.
  std::optional<node_index> last_reader(block_index b) const { return last_reader_.at(b.value); }

 private:
  void add_units();
  void add_names();
  std::size_t place_of(const unit& u) const noexcept;
  void add_order(node_index n);
  void add_uses(node_index n);
  void add_to_lane(node_index n);
  std::optional<node_index> last_of(std::span<const node_index> readers) const;
  /// True of those nodes from `first` to `n` that `n` follows, and of itself.
  std::vector<bool> followed_by(node_index n, node_index first) const;
  std::optional<block_part> find(const block_id& id, const graph_turn& turn, bool shared) const;

  std::vector<work_unit> units_;
  std::vector<graph_block> blocks_;
  std::uint32_t waves_ = 0;                        ///< of the replica that has most
  std::uint32_t shards_ = 0;
  std::vector<std::optional<node_index>> nodes_;  ///< by place_of()
  std::map<std::pair<bool, block_id>, block_index> names_;  ///< of first parts, by whether they are shared
  std::vector<std::vector<node_index>> before_;
  std::vector<std::vector<node_index>> behind_;
  struct lane_place {
    std::uint32_t lane = 0;
    std::uint32_t place = 0;
  };
  std::vector<std::vector<node_index>> lanes_;
  std::vector<lane_place> at_;  ///< of each node
  std::vector<std::optional<node_index>> writer_;
  std::vector<std::vector<node_index>> readers_;
  std::vector<std::optional<node_index>> last_reader_;
};

}  // namespace hydra
