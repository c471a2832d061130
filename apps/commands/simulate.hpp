#pragma once
// `hydra simulate`: policies on a workload, an instance or a run, in virtual time.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_simulate(command_line& line);

}  // namespace hydra::apps
