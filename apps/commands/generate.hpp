#pragma once
// hydra generate: a language model continues a text.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_generate(command_line& line);

}  // namespace hydra::apps
