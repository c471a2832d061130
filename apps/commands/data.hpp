#pragma once
// `hydra data`: what models see of their data.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_data(command_line& line);

}  // namespace hydra::apps
