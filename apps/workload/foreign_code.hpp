#pragma once
// Plug-ins that a workload of somebody else names: they are loaded only if the command line names them, too.

#include "apps/workload/policy_keys.hpp"
#include "apps/workload/value.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// All that the table names by their files: [run] plugins, and those of a policy and of the rule of a search. The table
/// need not have been checked.
std::vector<plugin_file> named_plugins(const value_table& root);

/// "/own/libx.so:name" for "/theirs/libx.so:name": of the plug-in among these that has the same path or, else, the same
/// file name.
std::optional<std::string> of_own_plugin(const std::string& which, const std::vector<std::string>& own);

/// For a node: puts its plug-ins in place of those that the table names. Throws fault_error{bad_input} if for one of
/// these it has none of the same path or file name.
void use_own_plugins(value_table& root, const std::vector<std::string>& own);

/// Removes what names code that evaluations do not need, and returns the plug-ins that were named.
std::vector<plugin_file> leave_out_code(value_table& root);

/// For a person: `the folder names "a.so", "b.so", but ...`.
std::string not_loaded(const std::vector<plugin_file>& named);

}  // namespace hydra::apps
