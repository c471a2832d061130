#pragma once
// hydra export: a model of a run as a Hugging Face checkpoint.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_export(command_line& line);

}  // namespace hydra::apps
