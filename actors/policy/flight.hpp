#pragma once
// The data of the schedule tracker: announcements, placements, flights, losses. Standard library only.

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_graph.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// A unit announced by its model task. `after`: only that device may stage it while a unit of its lane, or the same
/// visit of the wave before, is in flight there (a predecessor is not yet complete); void otherwise. `avoid`: attempts
/// at it have failed there, so other devices may stage it; if there are none, any but the last of these; void for the
/// only device.
struct ready_unit {
  unit next;
  std::optional<device_id> after;
  duration remaining{};
  duration cost{};
  byte_count bytes;        ///< parameters of the shard
  std::vector<device_id> avoid{};
  byte_count boundary{};   ///< its predecessor's output, if it has one in its step
  duration then_remaining{};  ///< `remaining` of the unit after it; zero for the last
  duration then_cost{};       ///< `cost` of the unit after it
  bool then_begins_step = false;     ///< the unit after it starts a step
  std::optional<block_id> base{};    ///< frozen parameters among `bytes`, if they are most of them
};

/// Properties of a model, besides its times, that policies may use.
struct model_traits {
  double priority = 1;                ///< weight of its completion
  std::optional<time_point> deadline{};
  step_shape shape{};                 ///< its lanes
};

/// A decision: stage `next` on `device`.
struct placement {
  unit next;
  device_id device;
  time_point available{};  ///< since when the unit could be staged there
  /// The same decision, ignoring `available`.
  friend bool operator==(const placement& a, const placement& b) { return a.next == b.next && a.device == b.device; }
};

enum class flight_phase : std::uint8_t { staged, computing, write_back };

/// A unit that is staged, computing or being written back.
struct flight {
  unit what;
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

/// One entry per lane, in the order of models and lanes. A lane may lose its announcement only: a unit that it follows
/// in a wave before is undone.
using losses = std::vector<model_loss>;

}  // namespace hydra
