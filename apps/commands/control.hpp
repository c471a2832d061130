#pragma once
// hydra control

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_control(command_line& line);

}  // namespace hydra::apps
