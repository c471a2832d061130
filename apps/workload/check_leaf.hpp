#pragma once
// Checks a value that is not a table against the rule of its key.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <string>

namespace hydra::apps {

/// A value with its rule and its full key ("model.steps").
struct value_site {
  const value& is;
  const key_rule& rule;
  std::string key;

  /// "<value> is given, expected <rule>".
  [[noreturn]] void refuse_value() const;
};

/// Throws fault_error{bad_input} unless the value is what the rule allows; tables are refused.
void check_leaf(const value_site& site);

}  // namespace hydra::apps
