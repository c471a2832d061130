#pragma once
// Which unit goes to which device: MODEL TASK, SCHEDULER and DEVICE ("scheduling a unit" in protocol.hpp). `unit_ready`
// and `model_traits` are in policy/flight.hpp.

#include "actors/policy/flight.hpp"
#include "actors/protocol/interfaces.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// A device joins. `speed`, `link` and `latency` as in its device_info.
struct device_added {
  device_id device;
  double speed = 1.0;
  device_actor actor;
  byte_rate link;
  duration latency{};
};

/// A model joins the schedule.
struct model_added {
  model_id model;
  task_actor task;
  model_traits traits;
};

/// Timer of a MODEL TASK: the model takes part from now on.
struct model_arrived {};

/// A model will announce no more units (finished, failed or stopped); results of units still in flight are ignored.
/// From its MODEL TASK, or from the SUPERVISOR if that has died.
struct model_left {
  model_id model;
};

/// Returns `credits` (an increment, not a level; at first those of all slots); reports what computes now.
struct device_freed {
  device_id device;
  std::uint32_t credits = 0;
  std::optional<unit> running;     ///< none: the device is idle
  std::vector<block_id> cached;    ///< parameters that arrived since the last message
  std::vector<block_id> dropped;
};

/// Stage this unit.
struct prefetch_shard {
  unit what;
  time_point available{};          ///< since when it could be staged on that device
};

struct unit_placed {
  unit what;
  device_id device;
  device_actor actor;
};

/// A unit will not complete: its device is lost or it failed there, or what it follows in a wave before. It need not be
/// in flight. Announcements of its lane must carry at least `next_attempt` from now on.
struct unit_lost {
  unit what;
  std::uint32_t next_attempt = 0;
  fault why;
  device_id device;
};

/// Stop working on a unit; the device answers with shard_failed in any case. `unless_started`: one that computes or is
/// being written back may still complete.
struct withdraw_unit {
  unit what;
  bool unless_started = false;
};

/// Timer of the SCHEDULER while a device holds units: checks that all devices respond.
struct check_devices {};

/// Timer of the SCHEDULER while a request to a policy actor is open.
struct check_policy {};

}  // namespace hydra
