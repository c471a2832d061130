#pragma once
// --set key=value, the same in every command that reads a workload file.

#include "apps/workload/override.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

/// Declares the option, which may be repeated; `into` outlives the parsing.
void add_set_option(CLI::App& app, std::vector<std::string>& into);

/// Throws fault_error{bad_input} for the first text that is no override.
std::vector<key_override> parse_overrides(const std::vector<std::string>& texts);

}  // namespace hydra::apps
