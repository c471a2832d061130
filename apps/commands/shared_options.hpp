#pragma once
// --set, --plugin and --base, the same in every command that has them.

#include "apps/commands/command_line.hpp"
#include "apps/workload/override.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// Each declares an option that may be repeated; `into` outlives the parsing.
void add_set_option(command_line& line, std::vector<std::string>& into);
void add_plugin_option(command_line& line, std::vector<std::string>& into);
declared_option add_base_option(command_line& line, std::vector<std::string>& into);

/// What --set and --plugin change of a workload; plug-ins are added to its [run] plugins. Throws fault_error{bad_input}
/// for the first text that is not an override.
std::vector<key_override> parse_overrides(const std::vector<std::string>& set,
                                          const std::vector<std::string>& plugins = {});

}  // namespace hydra::apps
