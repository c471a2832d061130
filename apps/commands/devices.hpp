#pragma once
// hydra devices: what `[[device]]` can be, and what this machine has.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_devices(command_line& line);

}  // namespace hydra::apps
