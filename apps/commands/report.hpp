#pragma once
// hydra report RUN: the results of a run, as tables and as a page.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_report(command_line& line);

}  // namespace hydra::apps
