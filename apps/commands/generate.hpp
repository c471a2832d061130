#pragma once
// hydra generate: a language model goes on with a text.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_generate(CLI::App& app);

}  // namespace hydra::apps
