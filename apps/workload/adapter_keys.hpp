#pragma once
// `adapter` of a model: LoRA and its options, or the folder of a stored one.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "models/families/catalog.hpp"

namespace hydra::apps {

table_rules adapter_rules();

/// The chain of a checked [[model]] table with its adapter, if it has one, and with the folder of a stored one, where
/// its tokenizer may be, too; faults of its build() name the place of `adapter`. Throws fault_error{bad_input} for a
/// stored one that cannot be read, and beside `freeze`.
chain_description read_adapted(const value_table& model, chain_description base);

}  // namespace hydra::apps
