#pragma once
// Helpers of policies that wait at step boundaries. Standard library only.

#include "actors/policy/policy.hpp"

#include <map>

namespace hydra {

bool equal_speeds(const policy_view& view);

/// The device's own model, if it is at a step boundary (gradient, update and load of shard 0) and has no units
/// elsewhere. With all its lanes: a lane that could go on is what the others wait for.
const model_state* model_at_step_boundary(const device_state& device, const policy_view& view);

/// For how long devices have kept their slots. A step boundary may take longer than copies and an update: the model may
/// also wait for a callback or a file.
class patience {
 public:
  /// Whether `device` may still wait for `m`: false after it has waited at this step boundary for `longest_ns`.
  bool lasts(const device_state& device, const model_state& m, time_point now, double longest_ns);
  void forget(device_id device) { since_.erase(device); }

 private:
  struct at_boundary {
    model_id model;
    duration remaining{};   ///< constant during one step boundary
    time_point since;
  };
  std::map<device_id, at_boundary> since_;
};

/// The avoidable part of the transfer time. A forward must load its shard on every device; a backward need not where
/// the shard is cached.
duration avoidable_transfer(const candidate& c);

/// Of the next units of all models.
duration longest_unit(const policy_view& view);

}  // namespace hydra
