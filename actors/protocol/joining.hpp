#pragma once
// Models that join a run that is under way: SUPERVISOR, ADMISSION and the actors they notify (11 of the story in
// protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "actors/protocol/model_description.hpp"
#include "actors/protocol/model_entry.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

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

/// `why` is none if the model has joined.
struct join_result {
  model_id model;
  task_actor task;
  fault why;
};

/// Called once, or destroyed with the message if the run is over.
using join_sink = std::function<void(const join_result&)>;

struct add_model {
  model_description what;
  join_sink answer;                    ///< may be null
};

/// `released`: models whose memory has been given back.
struct prepare_model {
  model_description what;
  std::set<model_id> released;
};

/// Answers, in the order of the requests. Local only, like the next one: carries memory. The entry is empty if `why` is
/// set.
struct model_prepared {
  std::shared_ptr<model_entry> entry;
  fault why;
};

/// Sent before any other message about the model.
struct model_joined {
  model_id model;
  model_entry entry;
};

struct model_refused {
  std::string name;
  fault why;
};

}  // namespace hydra
