#pragma once
// From gradients to the next version: MEMORY MANAGER, OPTIMIZER and MODEL TASK ("step and update" in protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// Gradients of a shard have been written back. Local only: carries memory.
struct step_shard {
  model_id model;
  shard_index shard;
  step_index step;
  sharded_model_ptr what;
  shard_home home;
  memory_actor memory;
};

/// Of a model whose steps are shared with other nodes (step_partners): what MEMORY MANAGER has asked them for is there.
/// `ticket`: its own.
struct values_exchanged {
  std::uint64_t ticket = 0;
  fault why{};
};

/// To the MODEL TASK: the losses of all micro-batches of a step, in their order.
struct losses_gathered {
  model_id model;
  step_index step;
  std::vector<float> losses;
};

/// Resumes the updates of the step in which a checkpoint was taken. Local only: carries memory.
struct resume_updates {
  model_id model;
  step_index step;
  sharded_model_ptr what;
  std::vector<shard_home> homes;
  update_progress updates;
  memory_actor memory;
};

/// The next version of a shard is complete. `grad_norm` of the whole model, if it clips.
struct shard_stepped {
  model_id model;
  shard_index shard;
  version_index version;
  std::optional<float> grad_norm;
  duration elapsed{};
  fault why;             ///< set if the update failed: the model cannot continue
};

struct shard_updated {
  model_id model;
  shard_index shard;
  version_index version;
  std::optional<float> grad_norm;
  duration elapsed{};
  fault why;
};

}  // namespace hydra
