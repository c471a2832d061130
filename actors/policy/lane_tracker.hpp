#pragma once
// The scheduler's state of one lane of a model (step_graph): its announced unit, its flights, its attempts. Standard
// library only.

#include "actors/policy/flight.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hydra {

/// At most one unit is announced; any number are staged, computing or being written back. A loss undoes what comes
/// later in the lane and makes older attempts stale.
class lane_tracker {
 public:
  /// `before`: the lane of the wave before, whose gradient sums this one continues; null for the first wave.
  explicit lane_tracker(const lane_tracker* before = nullptr) noexcept : before_(before) {}

  /// False if stale. Throws fault_error{internal} if the unit does not come after the last one of its attempt or if
  /// that one is not placed yet.
  bool announce(const ready_unit& u, time_point now);
  /// The model announces no more units; its flights stay.
  void leave();
  /// The announced unit becomes a flight, staged.
  flight place(device_id device, time_point now);
  /// The flight computes, or has computed; no effect if there is no such flight.
  void started(const unit& u) noexcept;
  void computed(const unit& u) noexcept;
  /// False if there is no such flight.
  bool complete(const unit& u, time_point now);
  /// A unit of the wave before has completed: the announced one is no longer bound to its device if nothing else binds
  /// it.
  void release_if_unbound(time_point now);

  /// The unit and all later flights are undone; empty if there is no such flight.
  std::optional<model_loss> fail(const unit& u);
  /// A unit of a wave before is undone, and `first` is the first of this lane that follows it: it and all later flights
  /// are undone. Every announcement up to now is void, in case it relied on that unit.
  model_loss follow(const unit& first);
  /// All flights on the device and all later ones are undone; empty if there is none on it. `first`: as above, empty
  /// without such a unit.
  std::optional<model_loss> lose(device_id device, const std::optional<unit>& first = {});

  const std::optional<ready_unit>& announced() const noexcept { return announced_; }
  /// The only device that may stage the announced unit now.
  std::optional<device_id> bound_to() const noexcept { return announced_ ? announced_->after : std::nullopt; }
  /// Since when the announced unit could be staged (by any device, if it is not bound to one).
  time_point available_since() const noexcept { return available_; }
  /// From the next unplaced unit on.
  duration remaining() const noexcept { return remaining_; }
  /// Of the next unplaced unit, announced or not.
  duration next_cost() const noexcept { return next_cost_; }
  /// The next unplaced unit starts a step and is not announced.
  bool at_step_boundary() const noexcept { return begins_step_ && !announced_; }
  /// How far placements go: `what` was announced or placed last, or is the first unit of those undone since.
  struct frontier {
    unit what;
    bool placed = false;
  };
  const std::optional<frontier>& reached() const noexcept { return reached_; }
  /// The device of the unit that ended last.
  std::optional<device_id> ended() const noexcept { return ended_; }
  /// The device of the unit before the next one, if it was not undone.
  std::optional<device_id> came_from() const noexcept { return came_from_; }
  const std::vector<flight>& flights() const noexcept { return flights_; }  ///< in the order of the lane
  const flight* find(const unit& u) const noexcept;
  flight* find(const unit& u) noexcept { return const_cast<flight*>(std::as_const(*this).find(u)); }
  std::uint32_t next_attempt() const noexcept { return next_attempt_; }
  bool left() const noexcept { return left_; }

 private:
  bool stale(const unit& u) const noexcept;
  void check_order(const unit& u) const;
  /// The device holds a unit that comes before the announced one.
  bool holds_predecessor(device_id device) const noexcept;
  /// Newer than all attempts so far.
  std::uint32_t unused_attempt() const noexcept;
  /// Undoes flights from `first` on whose attempt is older than `next`.
  model_loss undo(const unit& first, std::uint32_t next);
  void come_before(const std::vector<flight>& lost);
  void drop_announcement(std::uint32_t next_attempt);

  const lane_tracker* before_;
  std::optional<ready_unit> announced_;  ///< its `after` is reset as soon as it is void
  std::optional<unit> newest_;           ///< the last unit that was announced, placed or not
  std::optional<frontier> reached_;
  std::vector<flight> flights_;
  time_point available_;
  duration remaining_{};
  duration next_cost_{};
  bool begins_step_ = false;
  std::optional<device_id> ended_;
  std::optional<device_id> came_from_;
  std::uint32_t next_attempt_ = 0;
  bool left_ = false;
};

}  // namespace hydra
