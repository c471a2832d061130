#pragma once
// Facts that policies which hold and stay share. Standard library only.

#include "actors/policy/policy.hpp"

namespace hydra {

bool equal_speeds(const policy_view& view);

/// The device's own model, if it is in its step turn (gradient, update and load of shard 0) and nothing of it is elsewhere.
const model_state* turning_model(const device_state& device, const policy_view& view);

/// Of the transfer's time. A forward must load its shard wherever it runs; a backward need not where it lies.
duration avoidable_transfer(const candidate& c);

/// The longest next unit of all models.
duration longest_unit(const policy_view& view);

}  // namespace hydra
