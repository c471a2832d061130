#pragma once
// Checks a tree of values against the rules of its keys.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <string>

namespace hydra::apps {

/// A table as a checker meets it. `path` ends with a dot unless the table is the whole file: it is put before keys.
struct table_site {
  const value_table& table;
  place where;
  std::string path;
};

/// Throws fault_error{bad_input} for the first offence in the order of the file: unknown key (names the one that
/// another tool means by it, else the nearest), wrong type, value not allowed, missing key. Numbers are finite and
/// files are there afterwards.
void check_table(const table_site& site, const table_rules& rules);

}  // namespace hydra::apps
