#pragma once
// hydra families: what `chain = { family = ... }` can be.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_families(command_line& line);

}  // namespace hydra::apps
