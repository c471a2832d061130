#pragma once
// hydra train W.toml: plan, train all models, write the run folder.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_train(command_line& line);

}  // namespace hydra::apps
