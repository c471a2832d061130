#pragma once
// `chain` of a model: a family and its options, or the folder of a checkpoint.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "models/families/catalog.hpp"

namespace hydra::apps {

table_rules chain_rules();

/// Of a checked [[model]] table. Throws fault_error{bad_input} for options that exclude each other.
chain_description read_chain(const value_table& model);

}  // namespace hydra::apps
