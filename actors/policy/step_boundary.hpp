#pragma once
// Helpers of policies that wait at step boundaries. Standard library only.

#include "actors/policy/policy.hpp"

#include <map>
#include <utility>

namespace hydra {

bool equal_speeds(const policy_view& view);

/// The model whose units the device was given last, its first lane; null: none, or it has left.
const model_state* own_model(const device_state& device, const policy_view& view);

/// The device's own model, if it is at a step boundary (gradient, update and load of shard 0) and has no units
/// elsewhere. With all its lanes: a lane that could go on is what the others wait for.
const model_state* model_at_step_boundary(const device_state& device, const policy_view& view);

/// Its next unit starts a step and waits, and none of its units is staged.
bool waits_at_step_boundary(const model_state& m);

/// No device will have computed what it has sooner.
bool is_free_first(const device_state& device, const policy_view& view);

/// The one that computes the last unit of the step; if that has ended, the one that is free first, of equals that one.
device_id device_after_boundary(const model_state& m, const policy_view& view);

/// For how long devices have kept their slots. A step boundary may take longer than copies and an update: the model may
/// also wait for a callback or a file.
class patience {
 public:
  /// Whether `device` may still wait for `m`: false after it has waited at this step boundary for `longest_ns`.
  bool lasts(const device_state& device, const model_state& m, time_point now, double longest_ns);
  void forget(device_id device) {
    std::erase_if(since_, [=](const auto& kept) { return kept.first.first == device; });
  }
  void forget(model_id model) {
    std::erase_if(since_, [=](const auto& kept) { return kept.first.second == model; });
  }

 private:
  struct at_boundary {
    duration remaining{};   ///< constant during one step boundary
    time_point since;
  };
  std::map<std::pair<device_id, model_id>, at_boundary> since_;
};

/// The avoidable part of the transfer time. A forward must load its shard on every device; a backward need not where
/// the shard is cached.
duration avoidable_transfer(const candidate& c);

/// Of the next units of all models.
duration longest_unit(const policy_view& view);

}  // namespace hydra
