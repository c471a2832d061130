#pragma once
// Everything of one model that a later run needs to continue with the same results as an uninterrupted one.

#include "partition/checkpoint/model_history.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/memory/host_arena.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace hydra {

/// A model's memory at one moment: taken between two messages of the memory manager, while the host updates nothing of
/// the model. It shares the model's buffers: those of a shard do not change until `saved` is called for it. (What a
/// device steps is written back to other buffers.)
struct model_memory {
  std::vector<shard_home> homes;      ///< with the gradient sums of the step that are in host memory
  std::vector<version_index> versions;
  update_progress updates{};
  /// activations, upstream gradients and partial gradient sums still to be read
  std::vector<std::pair<block_id, host_block_ptr>> boundaries{};

  /// No shard is ahead of another and no gradient has been written back: the step can be started again, with any cuts.
  bool at_step_begin() const noexcept;
  /// The step whose updates are under way, or the next one.
  std::uint32_t step() const noexcept;
};

struct model_checkpoint {
  sharded_model_ptr what;
  model_memory memory;
  model_standing standing;
  bool best = false;                  ///< to be kept until an evaluation is better
};

/// Where checkpoints go.
class checkpoint_store {
 public:
  virtual ~checkpoint_store() = default;
  /// Calls `saved` for every shard as soon as its buffers may change again (the last first: it is stepped first). When
  /// it returns the checkpoint is complete and durable. Throws fault_error{io}; then no checkpoint has been written.
  virtual void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) = 0;
};

/// Number, time and last fault of a run's checkpoints.
struct checkpoint_totals {
  std::uint32_t saved = 0;
  duration elapsed{};
  fault why{};                        ///< of the last one that failed
};

}  // namespace hydra
