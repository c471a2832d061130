#pragma once
// Values from the command line that replace what a workload file says: --set key=value.

#include "apps/workload/value.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// A dotted path ("run.policy", "model.gpt-a.steps") and a value, whose place is what messages name.
struct key_override {
  std::string path;
  value is;
  bool adds = false;  ///< to the list that is there, if one is
};

/// "run.seed=3": the value is TOML, or a bare word that stands for itself as a text. Throws fault_error{bad_input}: no
/// "=", an empty part of the key, a value that is neither; it starts with `option` and the text.
key_override parse_override(const std::string& text, const std::string& option = "--set ");

/// Applies overrides in their order, before grids expand. `device.KEY` and `model.KEY` hold for every device and model,
/// `model.NAME.KEY` for the model written with that name, all members of its grid included. Returns those whose NAME is
/// not written in the file: a member of a grid may have it. Throws fault_error{bad_input}: no such table, a key inside
/// something that is not a table, a key that a grid varies. Unknown keys are left to the checker.
std::vector<key_override> apply_overrides(value_table& root, const std::vector<key_override>& overrides);

/// Applies what apply_overrides() has left, to the members of expanded grids. Throws fault_error{bad_input} for a name
/// that no model has.
void apply_to_members(value_table& root, const std::vector<key_override>& overrides);

}  // namespace hydra::apps
