#pragma once
// The data of the schedule tracker, as messages bring it or as it is kept: announcements, placements, flights, losses.
// Standard library only.

#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/model_graphs.hpp"
#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// A message of the protocol: the next unit of a model may be staged, its parameter version and its minibatch are in
/// host memory.
struct unit_ready {
  unit what;
  std::optional<device_id> after;  ///< only this device, while it holds a flight of the lane, or of another unit that
                                   ///< this one follows
  std::vector<device_id> avoid{};  ///< where an operation of it has thrown, the last one last: not there, while there
                                   ///< is another device; else not on the last of them, if there are two
  duration remaining{};            ///< wall time of the lane from this unit on, at speed 1 (paper, Algorithm 2)
  duration cost{};                 ///< of this unit at speed 1
  duration then_remaining{};       ///< `remaining` and `cost` of the unit after it, so that policies know what comes
  duration then_cost{};            ///< before it is announced; zero after the last unit
};

/// Properties of a model, besides its times, that policies may use.
struct model_traits {
  double priority = 1;                ///< weight of its completion
  std::optional<time_point> deadline{};
  step_shape shape{};                 ///< its lanes
  model_graphs_ptr graphs{};          ///< of that shape
  bool shares_steps = false;          ///< a step ends when other nodes have ended theirs, too
};

/// A decision: stage `next` on `device`.
struct placement {
  unit next;
  device_id device;
  time_point available{};  ///< since when the unit could be staged there
  bool waited = false;     ///< the device had nothing to compute, and waited for this decision
  /// The same decision, ignoring the rest.
  friend bool operator==(const placement& a, const placement& b) { return a.next == b.next && a.device == b.device; }
};

/// Where a unit is in its lane, whatever its attempt: step by step, the evaluation before a step round by round, node
/// by node.
struct lane_position {
  step_index step;
  bool trains = false;
  micro_batch_index round;  ///< its first micro-batch; 0 of a step
  node_index node;          ///< in the graph of the step, or of the round
  friend auto operator<=>(const lane_position&, const lane_position&) = default;
  /// Both are of one step, or of one round.
  bool same_turn(const lane_position& o) const {
    return step == o.step && trains == o.trains && round == o.round;
  }
};

enum class flight_phase : std::uint8_t { staged, computing, write_back };

/// A unit that is staged, computing or being written back.
struct flight {
  unit what;
  std::uint32_t lane = 0;
  lane_position at{};
  device_id device;
  flight_phase phase = flight_phase::staged;
  duration cost{};
  duration wall{};        ///< its share of the remaining time: cost and copies that cannot be hidden
  byte_count bytes{};     ///< parameters of the shard
  time_point placed{};
};

/// Units on a device, for the device watch.
struct device_load {
  device_id device;
  bool computes = false;
  time_point since;       ///< when the oldest of its flights was placed
  duration longest{};     ///< expected of one of its flights there: computation, and copies as far as the link says
};

/// Units of one lane that are undone by the loss of a unit or device.
struct model_loss {
  model_id model;
  unit first;                      ///< of the lane that is undone; in flight only if `lost` is not empty
  std::uint32_t next_attempt = 0;  ///< least attempt of announcements from now on
  std::vector<flight> lost;        ///< in the order of the lane; the model task is notified
  std::vector<flight> withdraw;    ///< those that another device still holds without knowing that they are lost
};

/// One entry per lane, in the order of models and lanes. A lane may lose its announcement only: a unit of it follows
/// one of another lane that is undone.
using losses = std::vector<model_loss>;

}  // namespace hydra
