#pragma once
// [search.space]: distributions of keys of the model.

#include "actors/selection/search_space.hpp"
#include "apps/workload/check_leaf.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// One key that a search varies.
struct searched_axis {
  std::string key;     ///< as written
  searched_key draws;  ///< with the dotted path
  place where;
};

/// Throws fault_error{bad_input} unless the value is a table of distributions. Whether models have the keys is checked
/// by read_space().
void check_space(const value_site& site);

/// The keys of a checked table, in its order, found as those of a grid. Throws fault_error{bad_input}: a key that
/// models do not have, or that is varied twice.
std::vector<searched_axis> read_space(const value& space, const table_rules& models);

}  // namespace hydra::apps
