#pragma once
// The scheduler's books: ready units, credits, flights, times. Pure: the SCHEDULER actor only turns messages into calls
// on this class and its answers into messages. Standard library only.

#include "actors/policy/candidate_list.hpp"
#include "actors/policy/flight.hpp"
#include "actors/policy/model_book.hpp"
#include "actors/policy/policy.hpp"
#include "actors/policy/residency.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

class books {
 public:
  explicit books(std::unique_ptr<policy> chosen);

  // -- devices and models ------------------------------------------------------------------------------------------
  /// A device starts without credit: it gives its staging slots one by one, by device_freed.
  /// `link` zero: copies are not counted in loads().
  void add_device(device_id device, double speed, byte_rate link = {});
  void add_model(model_id model);
  /// Drops what the model has announced; its flights stay until they complete.
  void remove_model(model_id model);

  // -- events (of devices and models that are not there any more: nothing happens) -----------------------------------
  /// False if the announcement is stale (older attempt than a loss that the books have seen, or an unknown model).
  /// Throws fault_error{internal} if the unit was announced before, or before the one announced last is placed.
  bool unit_ready(const ready_unit& u, time_point now);
  /// Gives back 0 or 1 credit; `running` is what the device computes now (none: it is idle).
  void device_freed(device_id device, std::uint32_t credits, const std::optional<unit>& running, time_point since);
  /// Net changes of the device's cache since its last report, for transfer costs.
  void blocks_cached(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped);
  /// A unit completed; false if there is no such flight (late message of a lost attempt).
  bool unit_completed(const unit& u, time_point now);
  /// A unit failed on a living device: it and all later flights of its model are undone. Empty if unknown.
  losses unit_failed(const unit& u);
  /// A device is gone with its credit, its flights and its cache; later flights of the same models are undone, too.
  losses device_lost(device_id device);
  /// Least attempt an announcement of this model must carry.
  std::uint32_t attempt_of(model_id model) const;

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// Applies the policy to every device with credit (idle ones first, faster before slower, lower id first) until a
  /// whole pass places nothing. Placed units become flights and cost a credit.
  /// Throws fault_error{internal} if the policy chooses what is no candidate.
  std::vector<placement> decide(time_point now);
  /// The same, appending: if the policy throws, what it had placed before is in `placed` and stays placed.
  void decide(time_point now, std::vector<placement>& placed);

  // -- facts -------------------------------------------------------------------------------------------------------
  std::size_t ready_count() const noexcept { return candidates_.size(); }
  std::size_t flight_count() const noexcept;
  std::size_t device_count() const noexcept { return devices_.size(); }
  std::vector<flight> flights_of(model_id model) const;
  std::uint32_t credits(device_id device) const;
  /// Of the devices that hold flights, in the order of their ids.
  std::vector<device_load> loads() const;
  const policy& chosen() const noexcept { return *policy_; }
  /// Replaces the policy (watchdog, plug-in beyond its limit).
  void replace_policy(std::unique_ptr<policy> p);
  /// True if nothing is in flight although a device has credit and may stage a unit: the policy refuses to work.
  bool starved() const;
  /// Credits, what computes and what is announced, a line each, for a stuck run.
  std::string describe() const;
  /// How often the policy was asked.
  std::uint64_t decisions() const noexcept { return decisions_; }

 private:
  struct device_book {
    double speed = 1.0;
    byte_rate link;
    std::uint32_t credits = 0;
    std::optional<unit> running;
    std::optional<model_id> last;  ///< the model it computed last
    time_point free_at;            ///< expected end of what it computes
  };
  model_book* find(model_id model);
  bool has_credit() const noexcept;
  /// Brings what policies see of the model up to date, after each event that changes it; a model that has left without
  /// flights is forgotten.
  void refresh(model_id model);
  void show(const model_state& state);
  void hide(model_id model);
  std::vector<device_state> view_devices(time_point now) const;
  std::vector<std::size_t> asking_order(const std::vector<device_state>& devices) const;
  std::optional<placement> ask(const device_state& device, const policy_view& view);
  placement place(const unit& u, device_id device, time_point now);

  std::unique_ptr<policy> policy_;
  std::map<device_id, device_book> devices_;
  std::map<model_id, model_book> models_;
  residency residency_;
  std::vector<model_state> model_states_;  ///< of models that have not left, in the order of their ids
  candidate_list candidates_;
  std::uint64_t decisions_ = 0;
};

}  // namespace hydra
