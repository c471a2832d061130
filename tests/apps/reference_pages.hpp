#pragma once
// Pages of docs/ that are made from the program: what a workload file may hold, what each command takes,
// and what words of other tools are called here.

#include "apps/workload/key_rule.hpp"

#include <string>

namespace hydra::apps {

/// docs/workload.md: the text of a workload file as an example; then a table for each table of such a file, and for
/// each kind that takes keys of its own.
std::string workload_page(const table_rules& rules, const std::string& example);

/// docs/commands.md: usage and options of each command.
std::string commands_page();

/// docs/other-tools.md: what words of other tools are called here.
std::string other_tools_page();

}  // namespace hydra::apps
