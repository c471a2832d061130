#pragma once
// Reads the minibatches of one model into host buffers, one pair of blocks per micro-batch. Pure, except for file
// access.

#include "actors/protocol/model_entry.hpp"
#include "partition/graph/batch_range.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

struct read_batch {
  std::size_t targets = 0;   ///< that count, over all micro-batches
  std::vector<std::pair<block_id, host_block_ptr>> blocks;
};

/// Micro-batch k of step n reads samples [k*b/K, (k+1)*b/K) of the step's batch of b samples (of a share of the steps
/// only its own micro-batches are read, but the targets of all count); micro-batch k of an
/// evaluation the k-th group of so many samples of the validation data, in order; past their end the last sample is
/// repeated, which does not count.
class batch_reader {
 public:
  /// `orders`: shared with other readers; null: none.
  batch_reader(model_id id, const model_entry& model, host_arena& arena, std::shared_ptr<epoch_orders> orders = {});

  /// Throws fault_error of the arena or the source. The answer is a pure function of the range.
  read_batch read(const batch_range& range);

 private:
  /// What the units of the range read that no unit writes: of each micro-batch the minibatch, then the targets.
  std::vector<std::pair<block_id, byte_count>> samples_in(const batch_range& range) const;
  std::vector<std::size_t> samples_of(const batch_range& range);
  std::vector<std::pair<block_id, host_block_ptr>> allocate(const batch_range& range);
  void fill(read_batch& batch, const batch_range& range);
  std::size_t count_elsewhere(std::span<const std::size_t> samples) const;
  std::size_t fill(split part, std::span<const std::size_t> samples, host_block& inputs, host_block& targets) const;

  model_id id_;
  sharded_model_ptr what_;
  std::shared_ptr<const data_source> source_;
  batch_cursor order_;
  host_arena& arena_;
};

}  // namespace hydra
