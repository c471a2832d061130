#pragma once
// hydra evaluate: validation metrics of a run's models, or of a workload's before training.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_evaluate(command_line& line);

}  // namespace hydra::apps
