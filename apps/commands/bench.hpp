#pragma once
// hydra bench NAME: the measurements behind the figures.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_bench(command_line& line);

}  // namespace hydra::apps
