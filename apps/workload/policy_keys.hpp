#pragma once
// [run] policy and plugins, and other things that plug-ins offer.

#include "actors/plugin/known_plugins.hpp"
#include "apps/workload/value.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

/// Of a policy or of the rule of a search.
struct named_choice {
  std::string which;                        ///< a name, or a plug-in with an absolute path
  std::map<std::string, double> options{};
  place where{};
};

struct plugin_file {
  std::filesystem::path file;               ///< absolute
  place where;
};

/// Visits each value that names a plug-in by its file: those of [run] plugins, and a policy or the rule of a search
/// that is named so ("libx.so:name"). The table need not have been checked: values that are not paths are skipped.
void for_each_plugin(value_table& root, const std::function<void(value&)>& visit);

/// Makes relative paths of plug-ins absolute: those in the file start at its folder, those of options at the working
/// directory. The table need not have been checked: values that are not paths are skipped.
void resolve_plugins(value_table& root);

/// Of a table that need not have been checked.
std::vector<plugin_file> read_plugins(const value_table& root);

/// Removes the policy, whether it is trusted, and the plug-ins of [run], if there are any.
void leave_out_policy(value_table& root);

/// A checked text, or table of a name and numbers.
named_choice read_choice(const value& v);

/// Checks that the policy and its options exist; a policy that is named by its plug-in is loaded into the set. Throws
/// fault_error{bad_input} with the place.
named_choice read_policy(const value_table& root, const std::shared_ptr<plugin_set>& plugins);

}  // namespace hydra::apps
