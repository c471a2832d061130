#pragma once
// The slots of a device: the phases of its units, the credits that are due, and the report of both.

#include "actors/device/pipeline_port.hpp"
#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

class device_slots {
 public:
  /// Both outlive this.
  device_slots(pipeline_state& state, pipeline_port& port) : state_(state), port_(port) {}

  /// Offers the credits of all slots.
  void offer_all();
  /// The only place where the phase of a unit changes. A unit that leaves its slot gives its credit back.
  void enter(visit_record& v, visit_phase next);
  /// Parameters that are now in the cache, for the next report.
  void add_cached(const block_id& id) { newly_cached_.push_back(id); }
  /// Reports credits that are due, or another running unit, and the changes of the cache since the last report.
  void report();

 private:
  bool occupies_slot(visit_phase phase) const noexcept;

  pipeline_state& state_;
  pipeline_port& port_;
  std::uint32_t credits_due_ = 0;
  std::optional<unit> running_;
  std::vector<block_id> newly_cached_;
};

}  // namespace hydra
