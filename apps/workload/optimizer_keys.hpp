#pragma once
// `optimizer` and `schedule` of a model.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "models/optimizer/update_rule.hpp"

namespace hydra::apps {

table_rules optimizer_rules();
table_rules schedule_rules();

/// Of a checked [[model]] table.
update_options read_update_options(const value_table& model);

}  // namespace hydra::apps
