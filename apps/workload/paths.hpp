#pragma once
// Paths in a workload, wherever its keys have them.

#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace hydra::apps {

/// May change the path; `kind`: of its key.
using path_visitor = std::function<void(std::string& path, value_kind kind)>;

/// Visits each path of an input file or folder in the table, which need not be checked.
void for_each_path(value_table& table, const table_rules& rules, const path_visitor& visit);

/// Relative paths start at `folder` and become absolute. The table need not be checked.
void resolve_paths(value_table& table, const table_rules& rules, const std::filesystem::path& folder);

/// The key names an input file or folder.
bool names_input(const key_rule& rule);

}  // namespace hydra::apps
