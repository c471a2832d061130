#pragma once
// [run] policy and plugins.

#include "apps/workload/value.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hydra::apps {

/// What session::use_policy takes.
struct policy_choice {
  std::string which;                        ///< a name, or a plug-in with an absolute path
  std::map<std::string, double> options{};
  place where{};
};

struct plugin_file {
  std::filesystem::path file;               ///< absolute
  place where;
};

/// Makes relative paths of plug-ins absolute: those in the file start at its folder, those of options at the working
/// directory. The table is checked.
void resolve_plugins(value_table& root);

std::vector<plugin_file> read_plugins(const value_table& root);

/// Loads the plug-ins to see that the policy and its options are there. Throws fault_error{bad_input} with the place.
policy_choice read_policy(const value_table& root, const std::vector<plugin_file>& plugins);

}  // namespace hydra::apps
