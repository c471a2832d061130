#pragma once
// `hydra tokenize`: text to token ids and back, and training a tokenizer.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_tokenize(command_line& line);

}  // namespace hydra::apps
