#pragma once
// Everything of one model that a later run needs to go on as if nothing had happened.

#include "partition/checkpoint/model_history.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/memory/host_arena.hpp"
#include "runtime/base/ids.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace hydra {

/// A model's memory at one moment: taken between two messages of the memory manager, while the host updates nothing of the
/// model. Its buffers are the model's own: a shard's do not change until it is said to be saved. (What a device steps comes home
/// in other buffers.)
struct model_memory {
  std::vector<shard_home> homes;      ///< with the gradients of shards whose update is under way
  std::vector<version_index> versions;
  update_progress updates{};
  std::vector<std::pair<block_id, host_block_ptr>> boundaries{};  ///< activations and upstream gradients still to be read

  /// No shard is ahead of another and no gradient has landed: the step can be begun again, with any cuts.
  bool at_step_begin() const noexcept;
  /// The step whose updates are under way, or that comes next.
  std::uint32_t step() const noexcept;
};

struct model_checkpoint {
  sharded_model_ptr what;
  model_memory memory;
  model_standing standing;
  bool best = false;                  ///< to be kept apart from those that a run goes on from
};

/// Where checkpoints go.
class checkpoint_store {
 public:
  virtual ~checkpoint_store() = default;
  /// Calls `saved` for every shard as soon as its buffers may change again (the last first: it is stepped first). When it
  /// returns the checkpoint is complete and will survive. Throws fault_error{io}; then it is as if it had not been begun.
  virtual void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) = 0;
};

/// What the checkpoints of a run have cost.
struct checkpoint_totals {
  std::uint32_t saved = 0;
  duration elapsed{};
  fault why{};                        ///< of the last one that failed
};

}  // namespace hydra
