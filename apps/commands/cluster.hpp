#pragma once
// hydra cluster: the keys of a cluster.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_cluster(command_line& line);

}  // namespace hydra::apps
