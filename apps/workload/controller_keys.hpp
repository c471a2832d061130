#pragma once
// [[controller]]: a table of kinds. To add one: write how its keys become callbacks, add one row.

#include "actors/session/session.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/workload.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

struct controller_kind {
  std::string name;
  std::vector<key_rule> keys;     ///< in addition to `kind`, `name` and `models`
  bool needs_evaluations = false;  ///< of at least one of its models during training
  /// Subscribes what a checked table describes; `models` by name, none: all.
  std::function<void(session&, const value_table& keys, const std::vector<std::string>& models)> add;
};

const std::vector<controller_kind>& controller_kinds();

table_rules controller_rules();

/// Adds the controller of a checked table; throws fault_error{bad_input} for models that it names and that do not
/// exist, or that give it nothing to do.
void add_controller(session& into, const value& controller, const std::vector<model_entry>& models);

}  // namespace hydra::apps
