#pragma once
// Keys of a [[model]] whose values no model gets, because a grid or a search varies them.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// A note on each, with both places; `root` before grids and searches are expanded.
std::vector<std::string> notes_on_varied_keys(const value_table& root, const table_rules& models);

}  // namespace hydra::apps
