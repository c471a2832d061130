#pragma once
// Scheduling policies: pure objects, called synchronously whenever a staging slot is free. Standard library only.
//
// To write one: derive from `policy`, return the index of a candidate or nothing. apps/examples/policy_plugin/ is a
// plug-in; a built-in policy gets a row in the table of actors/policy/catalog.cpp (docs/extending.md shows both). The
// conformance suite (tests/conformance/policy.hpp) tests what every policy must satisfy.

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// A unit that may be staged now on the device that is asked.
struct candidate {
  unit next;
  duration remaining{};       ///< wall time of its lane from this unit on at speed 1: computation, copies not hidden
  duration cost{};            ///< expected time of this unit at speed 1
  byte_count parameters;      ///< of its shard
  byte_count transfer;        ///< bytes that staging would copy to the asked device: parameters unless cached there
                             ///< (`hit`), its boundary unless its predecessor ran there
  duration transfer_time{};   ///< of these bytes over that device's link; zero if the link is not known
  duration boundary_time{};   ///< the boundary's part of it
  bool hit = false;           ///< the asked device has its parameters in its cache
  std::optional<device_id> elsewhere{};  ///< another device that has them
  time_point announced;       ///< since when any device may stage it (only this one, if `chained`)
  bool chained = false;       ///< its predecessor has not left the asked device yet: no other device may stage it
  bool landing = false;       ///< `chained`, but all its predecessors have computed
  std::vector<device_id> avoided{};  ///< attempts have failed there: it is not offered to these devices; never all
  std::size_t model_at = 0;   ///< index of its model's lane in policy_view::models
  std::optional<block_id> base{};    ///< frozen ones, if they are most of `parameters`: other models may have the same

  friend auto inspect(auto& f, candidate& x) {
    return f(x.next, x.remaining, x.cost, x.parameters, x.transfer, x.transfer_time, x.boundary_time, x.hit,
             x.elsewhere, x.announced, x.chained, x.landing, x.avoided, x.model_at, x.base);
  }
};

inline bool avoids(const candidate& c, device_id device) {
  return std::ranges::find(c.avoided, device) != c.avoided.end();
}

/// More units are not staged on a device, whatever its memory.
inline constexpr std::uint32_t most_staged = 8;

/// A device as the policy sees it.
struct device_state {
  device_id device;
  double speed = 1.0;
  bool idle = true;                   ///< computes nothing
  time_point free_at;                 ///< expected end of what it computes (in the past if idle)
  duration staged{};                  ///< expected time here of the units that are staged and not computing
  std::optional<model_id> running;    ///< the model it computes
  std::optional<model_id> last;       ///< its own model: of the unit that was staged there last
  bool has_slot = true;               ///< it would be asked now

  friend auto inspect(auto& f, device_state& x) {
    return f(x.device, x.speed, x.idle, x.free_at, x.staged, x.running, x.last, x.has_slot);
  }
};

/// A model that has not finished; if its steps are divided into several lanes (step_shape), one of them. A lane is
/// scheduled like a model of its own, but each of its steps waits for the step before of all lanes.
struct model_state {
  model_id model;
  std::uint32_t lane = 0;
  step_shape shape{};                 ///< of its model's steps
  std::optional<step_index> step{};   ///< of its next unplaced unit; none until it has announced a unit
  std::uint32_t place = 0;            ///< of that unit in its lane (without pieces: lane_places); 0 if it
                                      ///< is an evaluation
  duration remaining{};               ///< wall time from its next unplaced unit on, at speed 1
  duration staged{};                  ///< of its units that are staged and not computing
  duration next_cost{};               ///< expected time of its next unplaced unit at speed 1; zero if there is none
  bool candidate = false;             ///< some device could stage that unit now
  bool at_step_boundary = false;             ///< that unit starts a step and waits for the step before or its version
  std::size_t flights = 0;            ///< units staged, computing or being written back
  std::size_t staged_units = 0;       ///< of them, staged
  std::optional<device_id> running;   ///< the device that computes it
  std::optional<device_id> ended;     ///< the device of its unit that ended last
  double priority = 1;                ///< weight of its completion; as in the workload
  std::optional<time_point> deadline; ///< as in the workload

  friend auto inspect(auto& f, model_state& x) {
    return f(x.model, x.lane, x.shape, x.step, x.place, x.remaining, x.staged, x.next_cost, x.candidate,
             x.at_step_boundary, x.flights, x.staged_units, x.running, x.ended, x.priority, x.deadline);
  }
};

/// The input of a decision; devices in the order of their ids, models in that of ids and lanes. Valid during the call
/// only.
struct policy_view {
  time_point now;
  std::span<const device_state> devices;
  std::span<const model_state> models;

  /// Remaining time of what the device computes; zero if it is idle.
  duration until_free(const device_state& d) const {
    return d.idle ? duration{} : std::max(duration{}, d.free_at - now);
  }
};

/// Chooses which unit a free staging slot gets. Deterministic given its arguments, its options and the calls before;
/// not thread-safe. It reads no clock and no global state.
class policy {
 public:
  virtual ~policy() = default;
  virtual std::string name() const = 0;

  /// Index into `candidates` (never empty, ordered by model and lane), or none: keep the slot free for now. `device` is
  /// one of view.devices. Asked again after every event.
  virtual std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                            const policy_view& view) = 0;

  /// It is asked for a device only while fewer units are staged there. A unit waits for those that were staged before
  /// it: who stages several at once hides longer copies, and decides earlier. Constant.
  virtual std::uint32_t depth() const { return 1; }

  /// True while an answer is pending (from a policy actor): choosing nothing is not a refusal to work then.
  virtual bool pending() const { return false; }

  /// A model will announce no more units.
  virtual void model_left(model_id) {}

  /// A unit of the model has failed there: it will be offered to other devices only.
  virtual void unit_avoids(model_id, device_id) {}

  /// A device is lost.
  virtual void device_left(device_id) {}
};

}  // namespace hydra
