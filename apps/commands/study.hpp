#pragma once
// `hydra study`: policies on many instances.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_study(command_line& line);

}  // namespace hydra::apps
