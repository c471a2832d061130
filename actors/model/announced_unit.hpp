#pragma once
// What a MODEL TASK says of a unit that may be staged.

#include "actors/model/task_tracker.hpp"
#include "actors/protocol/scheduling.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/ids.hpp"

#include <vector>

namespace hydra {

/// With times and bytes of it and of the unit after it; `avoid` as in unit_ready.
unit_ready announced_unit(const announcement& next, const cursor& units, const sharded_model& what,
                          std::vector<device_id> avoid);

}  // namespace hydra
