#pragma once
// The scheduler's state: ready units, credits, flights, times. Pure: the SCHEDULER actor only turns messages into calls
// of this class and results into messages. Standard library only.

#include "actors/policy/flight.hpp"
#include "actors/policy/flight_table.hpp"
#include "actors/policy/policy.hpp"
#include "actors/policy/residency.hpp"
#include "actors/policy/shown_models.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

class schedule_tracker {
 public:
  explicit schedule_tracker(std::unique_ptr<policy> chosen);

  // -- devices and models ------------------------------------------------------------------------------------------
  /// A device starts without credit: it gives its staging slots by device_freed.
  /// `link` zero: the time of copies is not known.
  void add_device(device_id device, double speed, byte_rate link = {}, duration latency = {});
  void add_model(model_id model, const model_traits& traits);
  /// Drops what the model has announced; its flights stay until they complete.
  void remove_model(model_id model);

  // -- events (ignored for devices and models that have left) --------------------------------------------------------
  /// False if the announcement is stale (older attempt than a loss that was recorded, or an unknown model).
  /// Throws fault_error{internal} if the unit was announced before, or before the one announced last is placed.
  bool announce(const unit_ready& u, time_point now);
  /// Gives back credits, first those of all its slots; `running` is what the device computes now (none: it is idle).
  void device_freed(device_id device, std::uint32_t credits, const std::optional<unit>& running, time_point since);
  /// Net changes of the device's cache since its last report, for transfer costs.
  void blocks_cached(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped);
  /// A unit completed; false if there is no such flight (it was undone before).
  bool unit_completed(const unit& u, time_point now);
  /// A unit failed on a device that is not lost: it and all flights that follow it are undone. Empty if unknown. That
  /// of its own lane comes first.
  losses unit_failed(const unit& u);
  /// A device is lost with its credit, its flights and its cache; flights that follow these are undone, too.
  losses device_lost(device_id device);

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// Applies the policy to every device with credit (idle ones first, faster before slower, lower id first) until a
  /// whole pass places nothing. Placed units become flights and cost a credit.
  /// Throws fault_error{internal} if the policy's choice is not a candidate.
  std::vector<placement> decide(time_point now);
  /// The same; calls `placed` for each placement at once, which may call device_freed and announce. If the policy
  /// throws, units that it had placed before stay placed.
  using placement_sink = std::function<void(const placement&)>;
  void decide(time_point now, const placement_sink& placed);

  // -- facts -------------------------------------------------------------------------------------------------------
  std::size_t ready_count() const noexcept { return announced_; }
  std::size_t flight_count() const noexcept;
  std::size_t device_count() const noexcept { return devices_.size(); }
  /// For how long it has computed nothing at `now`, at most since `since`; 0 if it computes, or units are staged there.
  duration idle_time(device_id device, time_point since, time_point now) const;
  /// The current view of a policy.
  policy_view view(time_point now) const noexcept {
    return {.now = now, .devices = device_states_, .models = shown_.all()};
  }
  std::vector<flight> flights_of(model_id model) const;
  /// Of one lane, in its order; valid until the next event.
  std::span<const flight> flights_of(model_id model, std::uint32_t lane) const;
  /// A device has a unit of the model, or one that was undone and to which it has not answered yet: by unit_completed()
  /// or unit_failed().
  bool is_held(model_id model) const noexcept;
  std::uint32_t credits(device_id device) const;
  /// Of the devices that hold flights, in the order of their ids.
  std::vector<device_load> loads() const;
  const policy& chosen() const noexcept { return *policy_; }
  /// Replaces the policy (watchdog, plug-in beyond its limit).
  void replace_policy(std::unique_ptr<policy> p);
  /// True if nothing is in flight although a device has credit and may stage a unit: the policy chooses nothing.
  bool starved() const;
  /// Every lane of every model that has not left has announced a unit, or follows one of another lane that is not
  /// placed. Another one that is not in flight waits for its optimizer or its data: then a policy may choose nothing.
  bool all_announced() const;
  /// Credits, computing units and announced units, one per line, for a stuck run.
  std::string describe() const;
  /// How often the policy was asked.
  std::uint64_t decisions() const noexcept { return decisions_; }

 private:
  struct staged_unit {
    unit what;
    duration here{};   ///< expected time
  };
  struct device_tracker {
    byte_rate link;
    duration latency{};
    std::uint32_t credits = 0;
    std::uint32_t taken = 0;        ///< its slots that units have got
    std::optional<unit> running;
    std::vector<staged_unit> staged;
  };
  struct model_record {
    model_traits traits;
    flight_table units;
    bool left = false;
  };
  model_record* find(model_id model) noexcept;
  const model_record* find(model_id model) const noexcept;
  /// Position in devices_ and device_states_.
  std::optional<std::size_t> place_of(device_id device) const noexcept;
  /// Updates the view of a lane, or of all lanes of a model, after each event that changes it; a model that has left
  /// and of which no device has a unit is removed.
  void refresh(model_id model, std::uint32_t lane);
  void refresh(model_id model);
  void show(model_id id, const model_record& m, std::uint32_t lane);
  void remove_if_drained(model_id model);
  void begins(const unit& u, std::size_t device);
  void no_longer_staged(const unit& u, std::size_t device);
  void unstage(const losses& all);
  void has_computed(std::size_t device);
  void computes(std::size_t device, const unit& u, time_point since);
  bool may_ask(std::size_t device) const;
  bool may_stage(const lane_row& lane, device_id device) const;
  /// Devices that may not stage it now; never all.
  std::vector<device_id> avoided_by(const unit_ready& u) const;
  bool is_idle(std::size_t device) const;
  bool any_for(std::size_t device) const;
  duration copy_time(const device_tracker& d, byte_count bytes) const;
  candidate candidate_of(const lane_row& lane, std::size_t at, std::size_t device) const;
  void collect_candidates(std::size_t device);
  /// Devices with credit: idle ones first, faster before slower, lower id first.
  void order_devices();
  std::optional<placement> ask(device_id device, time_point now);
  placement place(model_id model, std::uint32_t lane, std::size_t device, time_point now);

  std::unique_ptr<policy> policy_;
  std::vector<device_tracker> devices_;                  ///< in the order of their ids, as the states
  std::vector<device_state> device_states_;
  std::vector<std::unique_ptr<model_record>> models_;    ///< by id; null: not known
  shown_models shown_;
  residency residency_;
  std::size_t announced_ = 0;
  std::vector<candidate> candidates_;                 ///< of the device that is asked
  std::vector<device_id> order_;                      ///< of the pass
  std::uint64_t decisions_ = 0;
};

}  // namespace hydra
