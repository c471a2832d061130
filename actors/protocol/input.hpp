#pragma once
// Minibatches: MODEL TASK, DATA and MEMORY MANAGER ("data" in protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "partition/graph/batch_range.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace hydra {

/// Micro-batches of a training step, or of an evaluation after `step` steps.
struct batch_wanted {
  model_id model;
  batch_range range;
};

/// Minibatch and targets, one pair of blocks per micro-batch. Local only: carries memory (none when it reaches the
/// task).
struct batch_ready {
  model_id model;
  batch_range range;
  std::size_t targets = 0;         ///< that count for the loss, of the whole range
  std::vector<std::pair<block_id, host_block_ptr>> blocks;
  fault why;
  data_actor reader;               ///< asked again when there is enough host memory, if there was not
};

}  // namespace hydra
