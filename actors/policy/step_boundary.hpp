#pragma once
// Facts that policies which hold and stay share. Standard library only.

#include "actors/policy/policy.hpp"

#include <map>

namespace hydra {

bool equal_speeds(const policy_view& view);

/// The device's own model, if it is in its step turn (gradient, update and load of shard 0) and nothing of it is elsewhere.
const model_state* model_at_step_boundary(const device_state& device, const policy_view& view);

/// For how long devices have kept their slots. A turn may take longer than copies and an update: a callback or a file
/// may be awaited, too.
class patience {
 public:
  /// Asked when `device` would hold for `m`: false when it has waited in this turn for as long as the wait may cost.
  bool lasts(const device_state& device, const model_state& m, time_point now, double longest_ns);
  void forget(device_id device) { since_.erase(device); }

 private:
  struct turn {
    model_id model;
    duration remaining{};   ///< the same in one turn
    time_point since;
  };
  std::map<device_id, turn> since_;
};

/// Of the transfer's time. A forward must load its shard wherever it runs; a backward need not where it lies.
duration avoidable_transfer(const candidate& c);

/// The longest next unit of all models.
duration longest_unit(const policy_view& view);

}  // namespace hydra
