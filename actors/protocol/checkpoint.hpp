#pragma once
// Saving a model: MODEL TASK, MEMORY MANAGER, OPTIMIZER and CHECKPOINTER (10 of the story in protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <memory>

namespace hydra {

/// Asks for the model's memory as it stands; one at a time.
struct capture_model {
  model_id model;
  bool halted = false;             ///< of a model that runs on boundaries are left out where the step may begin again
};

/// Start no job of the model any more, until its shards are saved; say when none runs.
struct hold_updates {
  model_id model;
  sharded_model_ptr what;
  memory_actor memory;
};

struct updates_held {
  model_id model;
  update_progress updates;
};

/// Local only, as the next one: carries memory.
struct model_captured {
  model_id model;
  std::shared_ptr<model_memory> memory;
};

/// The memory is taken out of `memory`: when model_saved is sent, nothing holds it any more.
struct save_model {
  model_id model;
  sharded_model_ptr what;
  std::shared_ptr<model_memory> memory;
  model_standing standing;
  task_actor task;
  bool best = false;               ///< no state to go on from, but the best one so far
};

/// The shard's buffers may change again.
struct shard_saved {
  model_id model;
  shard_index shard;
};

/// The checkpoint is complete and will survive, or `why` not; either way all buffers may change again. The MEMORY MANAGER hears
/// it from the MODEL TASK where that has ended before it could have the captured memory saved.
struct model_saved {
  model_id model;
  fault why;
  duration elapsed{};
};

/// A task's own clock.
struct checkpoint_due {};

}  // namespace hydra
