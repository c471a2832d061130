#pragma once
// All keys of a workload file.

#include "apps/workload/device_kinds.hpp"
#include "apps/workload/key_rule.hpp"

#include <vector>

namespace hydra::apps {

/// With the kinds of devices that every Hydra knows.
const table_rules& workload_rules();

table_rules workload_rules(const std::vector<device_kind>& kinds);

}  // namespace hydra::apps
