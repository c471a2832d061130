#pragma once
// The units of one model as the scheduler knows them: announced, on devices, undone. Standard library only.

#include "actors/policy/flight.hpp"
#include "actors/policy/unit_reads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace hydra {

/// A lane of a model, besides its flights.
struct lane_row {
  /// How far placements go: this unit was announced or placed last, or is the first of those undone since.
  struct frontier {
    lane_position at;
    bool placed = false;
  };
  std::optional<unit_ready> announced{};  ///< its `after` is reset as soon as it is void
  unit_reads reads{};                     ///< of that unit
  time_point available;                   ///< since when it could be staged (by any device, if it is not bound)
  std::optional<frontier> reached{};
  duration remaining{};                   ///< from the next unplaced unit on
  duration next_cost{};                   ///< of the next unplaced unit, announced or not
  bool begins_step = false;               ///< that unit starts a step, and was not undone
  std::optional<device_id> ended{};       ///< the device of the unit that ended last
  std::optional<device_id> came_from{};   ///< the device of the unit before the next one, if it was not undone
  std::uint32_t next_attempt = 0;
  std::optional<unit> newest{};           ///< the last unit that was announced, placed or not
  lane_position newest_at{};

  /// The only device that may stage the announced unit now.
  std::optional<device_id> bound_to() const noexcept { return announced ? announced->after : std::nullopt; }
  /// Newer than all attempts so far.
  std::uint32_t unused_attempt() const noexcept { return std::max(next_attempt, newest ? newest->attempt : 0) + 1; }
};

/// Of a lane at most one unit is announced; any number are staged, computing or being written back. A loss undoes what
/// comes later in the lane, and in other lanes what follows; older attempts are stale then.
class flight_table {
 public:
  explicit flight_table(model_graphs_ptr graphs) : graphs_(std::move(graphs)), lanes_(graphs_->step.lanes()) {}

  /// False if stale. Throws fault_error{internal} if the model has no such unit, if the unit does not come after the
  /// last one of its attempt in its lane, or if that one is not placed yet.
  bool announce(const unit_ready& u, time_point now);
  /// The model announces no more units; its flights stay.
  void leave();
  /// The announced unit of the lane becomes a flight, staged.
  flight place(std::uint32_t lane, device_id device, time_point now);
  /// The flight computes, or has computed; null if there is no such flight.
  const flight* started(const unit& u) noexcept;
  const flight* computed(const unit& u) noexcept;
  /// Its device has written it back; none if there is no such flight. Units that were bound to the device by this one
  /// alone are no longer bound.
  std::optional<flight> complete(const unit& u, time_point now);
  /// Its device has given it up: it and all flights that follow it are undone; empty if there is no such flight.
  losses fail(const unit& u);
  /// All flights on the device, and those that follow one of them, are undone.
  losses lose(device_id device);

  const work_graph& step() const noexcept { return graphs_->step; }
  std::uint32_t lane_of(const unit& u) const;
  std::span<const lane_row> lanes() const noexcept { return lanes_; }
  std::span<const flight> flights() const noexcept { return flights_; }  ///< lane by lane, in the order of the lane
  std::span<const flight> flights(std::uint32_t lane) const;
  const flight* find(const unit& u) const noexcept;
  std::size_t announced() const noexcept;
  /// All flights that bind the lane's announced unit to its device have computed.
  bool is_landing(std::uint32_t lane) const;
  /// No device has a unit of the model, not even one that was undone.
  bool drained() const noexcept { return flights_.empty() && withdrawn_.empty(); }

 private:
  flight* find(const unit& u) noexcept { return const_cast<flight*>(std::as_const(*this).find(u)); }
  lane_position position_of(const unit& u) const;
  static void check_order(const lane_row& lane, const unit& u, const lane_position& at);
  /// The announced unit follows it: it is of its lane, or writes what it reads.
  bool is_predecessor(const flight& f, std::uint32_t lane) const;
  bool holds_predecessor(std::uint32_t lane, device_id device) const;
  /// True if it was bound to a device that holds nothing of that kind any more.
  bool unbind(std::uint32_t lane);
  void release(std::uint32_t lane, time_point now);

  /// Lane by lane: flights that are hit, and what follows them. `failed`: the only one that is hit; its retries may
  /// have been announced before this was known here.
  losses undo(const std::function<bool(const flight&)>& hit, const unit* failed);
  /// Flights of the lane from `first` on whose attempt is older than `next`, and its announcement if that is.
  std::vector<flight> undo(std::uint32_t lane, const lane_position& first, std::uint32_t next);
  /// The first unit of the lane that follows one of these.
  std::optional<lane_position> first_behind(const std::vector<flight>& lost, std::uint32_t lane) const;
  std::vector<flight> first_hits(const std::function<bool(const flight&)>& hit) const;
  /// A training unit.
  unit unit_at(const lane_position& at, model_id model) const;
  void come_before(std::uint32_t lane, const std::vector<flight>& lost);
  void withdrawn_ended(const unit& u);

  model_graphs_ptr graphs_;
  std::vector<lane_row> lanes_;
  std::vector<flight> flights_;
  std::vector<flight> withdrawn_;  ///< undone, and their devices have not answered yet
};

}  // namespace hydra
