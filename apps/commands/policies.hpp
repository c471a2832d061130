#pragma once
// hydra policies: what `[run] policy` can be.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_policies(CLI::App& app);

}  // namespace hydra::apps
