#pragma once
// Pages of docs/ that are made from the program: what a workload file may hold, and what each command takes.

#include "apps/workload/key_rule.hpp"

#include <string>

namespace hydra::apps {

/// docs/workload.md: the text of a workload file as an example; then a table for each table of such a file, and for
/// each kind that takes keys of its own.
std::string workload_page(const table_rules& rules, const std::string& example);

/// docs/commands.md: usage and options of each command.
std::string commands_page();

}  // namespace hydra::apps
