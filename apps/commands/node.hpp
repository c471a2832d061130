#pragma once
// hydra node: trains models for `hydra train --listen` on another machine.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_node(command_line& line);

}  // namespace hydra::apps
