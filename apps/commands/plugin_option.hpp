#pragma once
// --plugin FILE, the same in every command that takes plug-ins.

#include "apps/commands/command_line.hpp"
#include "apps/workload/override.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// Declares the option, which may be repeated; `into` outlives the parsing.
void add_plugin_option(command_line& line, std::vector<std::string>& into);

/// What --set and --plugin change of a workload; plug-ins are added to its [run] plugins. Throws as parse_overrides()
/// does.
std::vector<key_override> parse_overrides(const std::vector<std::string>& set, const std::vector<std::string>& plugins);

}  // namespace hydra::apps
