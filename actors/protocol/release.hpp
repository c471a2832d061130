#pragma once
// The end of a model, and the release of its memory ("checkpoint, pause, end of a model" in protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// A MODEL TASK has ended its model; or the SUPERVISOR one that has no task.
struct task_ended {
  model_id model;
  std::uint32_t steps = 0;         ///< completed
  bool stopped = false;            ///< by a controller, or from outside
  fault why;                       ///< empty if finished
  fault unsaved;                   ///< why the last checkpoint is missing
  bool paused = false;             ///< and saved: it has not reached its end
};

/// A model that has left has no unit in flight any more.
struct model_drained {
  model_id model;
};

/// `finished`: as planned, or stopped; else its parameters are not a result.
struct release_model {
  model_id model;
  bool finished = false;
  bool paused = false;
};

/// Local only: carries memory, of which the OPTIMIZER takes the digest if the model is `finished`.
struct release_updates {
  model_id model;
  sharded_model_ptr what;
  std::vector<host_block_ptr> parameters;   ///< of all shards
  bool finished = false;
  memory_actor memory;
};

struct updates_released {
  model_id model;
  std::string digest;              ///< of the final parameters; empty if not `finished`
};

struct model_released {
  model_id model;
  std::string digest{};            ///< as above
};

}  // namespace hydra
