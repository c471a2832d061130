#pragma once
// [[model]]: one table, grid expanded, becomes one model.

#include "actors/session/session.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

namespace hydra::apps {

table_rules model_rules();

/// Of a checked table; everything but the data. Throws fault_error{bad_input} for keys that exclude each other.
model_description read_model(const value& model);

}  // namespace hydra::apps
