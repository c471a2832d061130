#pragma once
// hydra policies: what `[run] policy` can be.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_policies(command_line& line);

}  // namespace hydra::apps
