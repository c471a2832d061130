#pragma once
// Scheduling policies: pure objects, called synchronously whenever a staging slot is free. Standard library only.
//
// To write one: derive from `policy`, return the index of a candidate or nothing, add it to the table in
// actors/policy/catalog.cpp (CONTRIBUTING.md shows a complete example).

#include "runtime/bytes.hpp"
#include "runtime/ids.hpp"
#include "runtime/unit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// A unit that may be staged now on the device that is asked.
struct candidate {
  unit next;
  duration remaining{};       ///< paper, Algorithm 2: measured time of the model from this unit on, at speed 1
  duration cost{};            ///< expected time of this unit at speed 1
  byte_count parameters;      ///< of its shard
  byte_count transfer;        ///< bytes that staging would copy to the asked device (0 for a hit)
  time_point announced;       ///< since when any device may stage it (only this one, if `chained`)
  bool chained = false;       ///< its predecessor still computes or lands on the asked device, no other may stage it
};

/// A device as the policy sees it.
struct device_state {
  device_id device;
  double speed = 1.0;
  bool idle = true;                   ///< computes nothing
  time_point free_at;                 ///< expected end of what it computes (now if idle)
  std::optional<model_id> running;    ///< the model it computes
  std::optional<model_id> last;       ///< the model it computed last
};

/// A model that has not finished.
struct model_state {
  model_id model;
  duration remaining{};               ///< from its next unplaced unit on, at speed 1
  bool candidate = false;             ///< some device could stage its next unit now
  std::size_t flights = 0;            ///< units staged, computing or landing
};

/// What a decision may look at; devices and models in the order of their ids. Valid during the call only.
struct policy_view {
  time_point now;
  std::span<const device_state> devices;
  std::span<const model_state> models;
};

/// Chooses which unit a free staging slot gets. Deterministic given its arguments, its options and the calls before;
/// not thread-safe. It reads no clock and no global state.
class policy {
 public:
  virtual ~policy() = default;
  virtual std::string name() const = 0;

  /// Index into `candidates` (never empty, ordered by model id), or nothing: "keep the slot free for now".
  virtual std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                            const policy_view& view) = 0;

  /// A model will announce no more units.
  virtual void model_left(model_id) {}

  /// A unit of the model has failed there: another device will be offered it, this one will not.
  virtual void unit_avoids(model_id, device_id) {}

  /// A device is lost.
  virtual void device_left(device_id) {}
};

}  // namespace hydra
