#pragma once
// [data.NAME]: a table of kinds. To add one: write how its keys become a data_description, add one row.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "models/data/data_catalog.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

struct data_kind {
  std::string name;
  std::vector<key_rule> keys;  ///< in addition to `kind` and `shuffle`
  std::function<data_description(const value_table& keys)> read;
};

const std::vector<data_kind>& workload_data_kinds();

table_rules data_rules();

/// Replaces patterns in a checked table by the files that they match now, so that a run's workload names them.
void expand_patterns(value_table& keys);

/// `template` of chat data, from a command-line option: a name, or a table in TOML. Throws fault_error{bad_input}.
template_choice read_template(const std::string& option, const std::string& text);

/// Of a checked table.
data_description read_data(const value_table& keys);

}  // namespace hydra::apps
