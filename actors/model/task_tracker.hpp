#pragma once
// The state of a model task: units announced, in flight, complete; which unit may be announced next. Pure.

#include "partition/graph/dataflow.hpp"
#include "partition/plan/cursor.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// A unit that may be announced now.
struct announcement {
  unit what;
  std::optional<device_id> after;   ///< device of the predecessor that has not completed
};

/// At most one unit is announced at a time, the first that is not in flight. Conditions: its parameter version and the
/// micro-batches of its step or evaluation range are in host memory; the first unit after step n waits for version n+1
/// of shard 0 and, if steps are observed, for the acknowledgement of step n; the first after an evaluation, if
/// evaluations are held, for its release. If the unit before computes the version on its device, the two conditions on
/// versions hold while it is in flight there. A unit's inputs are derived from the unit, its position from this
/// tracker.
class task_tracker {
 public:
  task_tracker(cursor units, std::uint32_t shards, bool observed);
  /// Starts with a later unit than the first; `reported`: steps whose events have been sent. A step boundary is
  /// observed again: it is not known whether it had been acknowledged.
  void begin_at(const unit_position& first, std::uint32_t reported, std::vector<version_index> versions);

  // -- events ------------------------------------------------------------------------------------------------------
  /// The announced unit is staged on a device. False if it is not the announced one.
  bool placed(const unit& u, device_id device);
  /// False if the unit is not in flight (late message).
  bool completed(const unit& u);
  /// Rewinds to the unit, with all later ones, if it is in flight; else false. An announcement of an attempt below
  /// `next_attempt` is void in any case.
  bool lost(const unit& u, std::uint32_t next_attempt);
  void version_at_home(shard_index shard, version_index version);
  void batch_at_home(const batch_range& range);
  void acknowledged(step_index step);
  /// From now on steps are not acknowledged.
  void unobserved() noexcept { observed_ = false; }
  /// Shard 0 is stepped on the device that ends the step: its next visit may follow there at once.
  void step_on_device(bool steps) noexcept { steps_on_device_ = steps; }
  /// The step after an evaluation waits for release(): until then the model may still be ended or saved.
  void hold_evaluations(bool held) noexcept { holds_evaluations_ = held; }
  /// The evaluation after `steps` steps.
  void release_evaluation(std::uint32_t steps) noexcept;
  /// The model ends after `steps` completed steps (never more than planned).
  void stop_after(std::uint32_t steps);
  /// No unit is announced any more; those in flight may still complete.
  void give_up() noexcept { given_up_ = true; }

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// The unit to announce now, each once; none if no unit may be announced.
  std::optional<announcement> announce();
  /// A minibatch that should be fetched now, each once: of the step after the one that has not completed, and of the
  /// round after the one that is evaluated, so that host memory never holds more than two of a kind (host_demand relies
  /// on it).
  std::optional<batch_range> wanted_batch();

  // -- facts -------------------------------------------------------------------------------------------------------
  bool finished() const;
  /// No unit of it is on a device.
  bool drained() const noexcept { return flights_.empty(); }
  /// The first unit that has not completed.
  unit_position committed() const;
  /// The same as a training unit, for a checkpoint: that of a model that has been evaluated after its last step is the end
  /// of its training units.
  unit_position saved_position() const;
  /// Units on devices and what the model waits for, one per line, for a stuck run.
  std::string describe() const;
  /// Sum over all shards.
  std::uint64_t updates() const;
  /// All shards have the same version, as after a step: the version with which the next step starts.
  std::optional<std::uint32_t> whole_version() const;
  std::uint32_t completed_steps() const noexcept { return completed_steps_; }
  const cursor& units() const noexcept { return units_; }
  cursor& units() noexcept { return units_; }

 private:
  struct flight {
    unit what;
    device_id device;
  };
  bool may_announce() const;
  bool evaluation_held() const;
  bool batch_is_home(const unit& u) const;
  bool version_is_made(const unit& u) const;
  std::optional<batch_range> wanted_round();

  cursor units_;
  bool observed_;
  unit_position next_;                       ///< first unit that is not in flight
  std::deque<flight> flights_;
  std::optional<unit> announced_;
  std::vector<version_index> versions_;
  std::set<batch_range> batches_;            ///< in host memory, or consumed by a step that has not completed
  std::uint32_t wanted_ = 0;
  unit_position next_round_;                 ///< first unit of the evaluation round to be fetched next
  std::uint32_t rounds_open_ = 0;            ///< fetched, not complete
  std::uint32_t acknowledged_ = 0;           ///< steps below this are acknowledged
  bool holds_evaluations_ = false;
  bool steps_on_device_ = false;
  std::uint32_t released_ = 0;               ///< evaluations after so many steps are released
  std::uint32_t completed_steps_ = 0;
  std::uint32_t attempt_ = 0;
  bool given_up_ = false;
};

}  // namespace hydra
