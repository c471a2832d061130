#pragma once
// Saving a model: MODEL TASK, MEMORY MANAGER, OPTIMIZER and CHECKPOINTER ("checkpoint, pause, end of a model" in
// protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <memory>

namespace hydra {

/// Asks for the model's memory in its current state; one request at a time.
struct capture_model {
  model_id model;
  bool halted = false;             ///< else boundaries are left out if the step can be started again
};

/// Start no more jobs of the model until its shards are saved; report when none runs.
struct hold_updates {
  model_id model;
  sharded_model_ptr what;
  memory_actor memory;
};

struct updates_held {
  model_id model;
  update_progress updates;
};

/// Local only, like the next one: carries memory.
struct model_captured {
  model_id model;
  std::shared_ptr<model_memory> memory;
};

/// The memory is moved out of `memory`: when model_saved is sent, nothing refers to it any more.
struct save_model {
  model_id model;
  sharded_model_ptr what;
  std::shared_ptr<model_memory> memory;
  model_standing standing;
  task_actor task;
  bool best = false;               ///< the best state so far, not one to resume from
};

/// The shard's buffers may change again.
struct shard_saved {
  model_id model;
  shard_index shard;
};

/// The checkpoint is complete and durable, or `why` not; either way all buffers may change again. The MODEL TASK sends
/// it to the MEMORY MANAGER if it has ended before the captured memory could be saved.
struct model_saved {
  model_id model;
  fault why;
  duration elapsed{};
  bool best = false;               ///< as in save_model
};

/// Timer of a MODEL TASK, sent to itself.
struct checkpoint_due {};

}  // namespace hydra
