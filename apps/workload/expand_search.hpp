#pragma once
// [search]: one [[model]] becomes `samples` models with values drawn from [search.space].

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <optional>
#include <string_view>

namespace hydra::apps {

/// With `samples`, replaces the only [[model]] by as many, each with values drawn from the space, and removes
/// `samples`: the result draws no more. `{key}` in the name becomes the value; a name without braces gets a number. A
/// draw depends on the seed, the place of the model and the key only. Models without validate.every_steps get what the
/// search needs, with or without `samples`. Throws fault_error{bad_input}. What drawn values may be is checked later,
/// as grids' are.
void expand_search(value_table& root, const table_rules& models);

/// Where a search that has not been expanded varies the key at a dotted path, or as the search writes it, a table
/// around it or a key inside it. Throws fault_error{bad_input} for a search that is wrong itself.
std::optional<place> varied_by_search(const value_table& root, std::string_view path, const table_rules& models);

}  // namespace hydra::apps
