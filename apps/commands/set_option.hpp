#pragma once
// --set key=value, the same in every command that reads a workload file.

#include "apps/commands/command_line.hpp"
#include "apps/workload/override.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// Declares the option, which may be repeated; `into` outlives the parsing.
void add_set_option(command_line& line, std::vector<std::string>& into);

/// Throws fault_error{bad_input} for the first text that is not an override.
std::vector<key_override> parse_overrides(const std::vector<std::string>& texts);

}  // namespace hydra::apps
