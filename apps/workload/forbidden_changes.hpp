#pragma once
// What a resumed run must not change: everything but the keys whose rule says that they may.

#include "apps/workload/check.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct forbidden_change {
  place where;       ///< of the key, or of the table that lacks it
  std::string key;   ///< "model.gpt-a.steps"
  std::string text;  ///< "another value than in runs/w/workload.toml:7 (was 3, is 5)"
};

/// Of a workload as run (checked, grids expanded) against the one that the run started with, in the order of the
/// former. Models and data are matched by name, wherever they are in the file. A key left at its default and one
/// written with that value are the same; so are a model without a seed and one with the run's. `was` need not be valid.
std::vector<forbidden_change> forbidden_changes(const table_site& was, const table_site& is);

/// Whether a value equals the key's default, as far as the rule states it as a value or as the same text.
bool is_default(const value& given, const key_rule& rule);

/// Throws fault_error{bad_input} for the first change, if there is one; the message says what to do.
void refuse_changes(const std::vector<forbidden_change>& changes);

}  // namespace hydra::apps
