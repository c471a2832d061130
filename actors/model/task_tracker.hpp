#pragma once
// The state of a model task: units announced, in flight, complete; which unit may be announced next. Pure.

#include "partition/graph/batch_range.hpp"
#include "partition/plan/cursor.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/step_position.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// A unit that may be announced now.
struct announcement {
  unit what;
  std::optional<device_id> after;   ///< device of the predecessors that have not completed
};

/// Per lane of its graph (work_graph) at most one unit is announced at a time, the first that is not in flight.
/// Conditions: its predecessors have completed or are in flight on one device, to which it is then bound; before it
/// begins a step, all other lanes have ended the one before; its parameter version is in host memory, or the unit
/// before it in its lane, which is in flight, writes it; the micro-batches of its step or round are in host memory; the
/// first unit after step n waits, if steps are observed, for the acknowledgement of step n; the first after an
/// evaluation, if there are several lanes, for its end and, if evaluations are held, for its release.
class task_tracker {
 public:
  task_tracker(cursor units, bool observed);
  /// Starts each lane with a later unit than the first; `reported`: steps whose events have been sent. A step boundary
  /// is observed again: it is not known whether it had been acknowledged.
  void begin_at(const std::vector<unit_position>& first, std::uint32_t reported, std::vector<version_index> versions);

  /// Of units that have not been announced yet.
  void begin_attempts(std::uint32_t first);

  // -- events ------------------------------------------------------------------------------------------------------
  /// The announced unit of its lane is staged on a device. False if it is not the announced one.
  bool placed(const unit& u, device_id device);
  /// False if the unit is not in flight (late message).
  bool completed(const unit& u);
  /// Rewinds its lane to the unit, if it is in flight; else false. An announcement of an attempt below `next_attempt`
  /// in that lane is void in any case.
  bool lost(const unit& u, std::uint32_t next_attempt);
  void version_at_home(shard_index shard, version_index version);
  void batch_at_home(const batch_range& range);
  void acknowledged(step_index step);
  /// From now on steps are not acknowledged.
  void unobserved() noexcept { observed_ = false; }
  /// Where a unit writes the next version, on its device, the next visit of the shard may follow there at once.
  void follow_on_device(bool follows) noexcept { follows_on_device_ = follows; }
  /// The step after an evaluation waits for release(): until then the model may still be ended or saved.
  void hold_evaluations(bool held) noexcept { holds_evaluations_ = held; }
  /// The evaluation after `steps` steps.
  void release_evaluation(std::uint32_t steps) noexcept;
  /// The model ends after `steps` completed steps (never more than planned).
  void stop_after(std::uint32_t steps);
  /// No unit is announced any more; those in flight may still complete.
  void give_up() noexcept { given_up_ = true; }
  /// After give_up(), when no unit is on a device and no announcement is known to the scheduler.
  void continue_announcing();
  /// The time of a completed unit; it is the same for all lanes.
  void measured(const unit& u, duration at_speed_one) { units_.measured(u, at_speed_one); }

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// A unit to announce now, each once, lane by lane; none if no unit may be announced.
  std::optional<announcement> announce();
  /// A minibatch that should be fetched now, each once: of the step after the one that has not completed, and one
  /// round more than lanes that evaluate: host_demand relies on these limits.
  std::optional<batch_range> wanted_batch();

  // -- facts -------------------------------------------------------------------------------------------------------
  bool finished() const;
  /// No unit of it is on a device.
  bool drained() const noexcept { return flights_.empty(); }
  /// For a checkpoint: the first unit of each lane that has not completed. If a model has been evaluated after its last
  /// step, the end of its training units.
  step_position saved_position() const;
  /// Units on devices and what the model waits for, one per line, for a stuck run.
  std::string describe() const;
  /// Sum over all shards.
  std::uint64_t updates() const;
  /// All shards have the same version, as after a step: the version with which the next step starts.
  std::optional<std::uint32_t> whole_version() const;
  std::uint32_t completed_steps() const;
  /// With the one that has begun: a training unit of it has been announced, or data of the evaluation after it have
  /// been fetched (host_demand() has no room for those of another one).
  std::uint32_t begun_steps() const;
  /// Data that are read at once, with those of the unit.
  batch_range batch_of(const unit& u) const;
  const cursor& units() const noexcept { return units_; }

 private:
  struct flight {
    unit what;
    unit_position at;
    device_id device;
  };
  struct lane_state {
    unit_position done{};                    ///< first unit that has not completed
    unit_position next{};                    ///< first unit that is not in flight
    std::optional<unit> announced{};
    std::uint32_t attempt = 0;
  };
  const flight* last_flight(const lane_state& lane) const;
  bool may_announce(const lane_state& lane) const;
  bool others_have_come(const lane_state& lane) const;
  bool evaluation_held(const lane_state& lane) const;
  bool evaluation_is_over(std::uint32_t step) const;
  bool batch_is_home(const unit& u) const;
  struct binding {
    bool possible = true;
    std::optional<device_id> device{};
  };
  binding binding_of(const lane_state& lane) const;
  bool version_is_made(const lane_state& lane, const unit& u) const;
  std::optional<batch_range> wanted_round();
  std::string describe(const lane_state& lane) const;

  cursor units_;
  std::vector<lane_state> lanes_;
  std::vector<flight> flights_{};            ///< in the order in which they were placed
  std::uint32_t micro_batches_ = 0;          ///< of a step
  bool observed_;
  std::vector<version_index> versions_;
  std::set<batch_range> batches_;            ///< in host memory, or consumed by a step that has not completed
  std::uint32_t wanted_ = 0;
  struct {
    std::uint32_t step = 0;
    std::uint32_t index = 0;
  } next_round_;                             ///< of an evaluation, to be fetched next
  std::uint32_t rounds_open_ = 0;            ///< fetched, not complete
  std::uint32_t evaluation_read_ = 0;        ///< steps before the evaluation whose data were fetched last
  std::uint32_t acknowledged_ = 0;           ///< steps below this are acknowledged
  bool holds_evaluations_ = false;
  bool follows_on_device_ = false;
  std::uint32_t released_ = 0;               ///< evaluations after so many steps are released
  bool given_up_ = false;
};

}  // namespace hydra
