#pragma once
// --plugin FILE, the same in every command that takes plug-ins.

#include "apps/workload/override.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

/// Declares the option, which may be repeated; `into` outlives the parsing.
void add_plugin_option(CLI::App& app, std::vector<std::string>& into);

/// Adds them to a workload's [run] plugins.
key_override plugins_override(const std::vector<std::string>& files);

}  // namespace hydra::apps
