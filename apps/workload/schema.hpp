#pragma once
// All keys of a workload file.

#include "apps/workload/key_rule.hpp"

namespace hydra::apps {

const table_rules& workload_rules();

}  // namespace hydra::apps
