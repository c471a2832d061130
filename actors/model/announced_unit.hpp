#pragma once
// What a MODEL TASK says of a unit that may be staged.

#include "actors/model/task_tracker.hpp"
#include "actors/protocol/scheduling.hpp"
#include "partition/plan/cursor.hpp"
#include "runtime/base/ids.hpp"

#include <vector>

namespace hydra {

/// With the times of it and of the unit after it; `scale`: wall time / computing time of what remains; `avoid` as in
/// unit_ready.
unit_ready announced_unit(const announcement& next, const cursor& units, double scale, std::vector<device_id> avoid);

}  // namespace hydra
