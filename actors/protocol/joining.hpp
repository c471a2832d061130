#pragma once
// Models that join a run that is under way: SUPERVISOR, ADMISSION and the actors they notify ("joining" in
// protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/protocol/model_entry.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_position.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace hydra {

/// A model's memory at its start: its host buffers filled with version 0, or from a checkpoint, at unit `unit` of step
/// `step`. From now on the MEMORY MANAGER alone owns the buffers, because it may replace them. Local only: carries
/// memory.
struct register_model {
  model_id model;
  sharded_model_ptr what;
  model_memory memory;
  step_position begins;
  task_actor task;
};

/// `why` is none if the model has joined, or waits for memory.
struct join_result {
  model_id model{};
  task_actor task{};
  fault why{};
  bool waits = false;
};

/// Called when the model has to wait for memory, if it has to, and when it has joined or is refused; or destroyed if
/// the run ends before.
using join_sink = std::function<void(const join_result&)>;

struct add_model {
  model_description what;
  join_sink answer;                    ///< may be null
};

/// A model that is to have memory in a run under way.
struct admission_request {
  model_description what;
  model_id model;                       ///< its id, if it is admitted
  std::size_t models = 0;               ///< of the run
  bool continues = false;               ///< from its newest checkpoint in this run
  std::set<model_id> without_memory{};  ///< models of the run
};

/// Prepares a model for a run that is under way; called by one thread at a time. Throws fault_error: {out_of_memory} if
/// it fits when other models have given their memory back.
using model_maker = std::function<model_entry(const admission_request& r)>;

struct prepare_model {
  admission_request request;
};

/// Answers, in the order of the requests. Local only, like the next one: carries memory. The entry is empty if `why` is
/// set.
struct model_prepared {
  std::shared_ptr<model_entry> entry;
  fault why;
};

/// It has its memory from now on: a new model, one of the run that has waited for memory, or one that was paused. Sent
/// before any other message about it.
struct model_admitted {
  model_id model;
  model_entry entry;
};

}  // namespace hydra
