#pragma once
// [model.grid]: one [[model]] becomes one model for every combination of the listed values, the last key fastest.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hydra::apps {

/// Replaces every [[model]] that has a grid by its combinations, in place and in order. A key of the grid is a dotted
/// path ("optimizer.learning_rate") or a leaf that occurs once in `rules` ("learning_rate"), whether the model sets it
/// or not. `{key}` in the name becomes the value as written; a name without braces gets the values appended. Throws
/// fault_error{bad_input}. What the values may be is checked later, in the models that result.
void expand_grids(value_table& root, const table_rules& rules);

/// The dotted path of a key of a grid, or of another table of keys that are varied. Throws fault_error{bad_input}:
/// unknown, ambiguous, not a leaf.
std::string resolve_grid_key(const place& where, std::string_view key, const table_rules& rules,
                             std::string_view table = "model.grid");

/// A key that a grid varies.
struct varied_key {
  std::string key;   ///< as the grid writes it
  std::string path;  ///< dotted
  place where;
};

/// What the grid of a [[model]] varies of the key at a dotted path, or as the grid writes it: the key, a table around
/// it or a key inside it; nothing if it does not. Throws fault_error{bad_input} for a grid that is wrong itself.
std::optional<varied_key> varied_by_grid(const value& model, std::string_view path, const table_rules& rules);

/// Gives a key of a grid other values, under the spelling and at the position that it has there already: names of
/// models have both. False if the grid does not have it. Throws fault_error{bad_input} for a key as resolve_grid_key().
bool replace_in_grid(value_table& grid, std::string_view key, const value& values, const table_rules& rules);

}  // namespace hydra::apps
