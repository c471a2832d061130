#pragma once
// Options of model families and kinds of devices as keys of a workload file.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "runtime/base/option.hpp"

#include <vector>

namespace hydra::apps {

/// The key of an option: its kind follows from the option's type.
key_rule rule_of(const option& o);

/// What a checked table gives of these keys; each value has the type that the rule's kind says, a share is a text.
option_values read_options(const value_table& keys, const std::vector<key_rule>& rules);

}  // namespace hydra::apps
