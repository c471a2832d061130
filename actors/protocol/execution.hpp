#pragma once
// A unit on its device: MODEL TASK, DEVICE and MEMORY MANAGER ("a unit on its device" in protocol.hpp).

#include "actors/protocol/interfaces.hpp"
#include "actors/protocol/visit_times.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <vector>

namespace hydra {

/// The dataflow token. `targets`: number of targets of the step, the loss divisor; evaluation divides later. Local
/// only: `model` holds code.
struct execute_shard {
  unit what;
  sharded_model_ptr model;
  std::size_t targets = 1;
};

/// Asks for host buffers to read, and for host buffers for the outputs; either list may be empty.
struct lease_shard {
  ticket lease;
  device_id device;
  unit what;
  std::vector<block_id> reads;
  std::vector<block_id> outputs;
};

/// Answer, in the order of the request. Local only: carries memory (devices on other machines will have an interface of
/// their own).
struct shard_leased {
  ticket lease;
  std::vector<host_block_ptr> reads;
  std::vector<host_block_ptr> outputs;
};

struct lease_refused {
  ticket lease;
  fault why;
};

/// The h2d copies have read the bytes.
struct lease_returned {
  ticket lease;
  device_id device;
};

/// An asynchronous operation has ended: a device's to its DEVICE, an update job's to the OPTIMIZER.
struct operation_completed {
  completion what;
};

/// All outputs of the unit are written back to the buffers of its lease.
struct shard_demoted {
  unit what;
  device_id device;
  visit_times times;
};

/// The unit has ended on its device without result; its buffers are free.
struct shard_failed {
  unit what;
  device_id device;
  fault why;
};

/// Commit: before it the unit can be lost, afterwards it cannot. The last shard's unit has the `losses` of its
/// micro-batches, or their `scores` in an evaluation, in order.
struct shard_completed {
  unit what;
  device_id device;
  std::vector<float> losses;
  std::vector<evaluation_score> scores;
  visit_times times;
};

}  // namespace hydra
