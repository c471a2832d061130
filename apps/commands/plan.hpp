#pragma once
// hydra plan W.toml: only the pilot pass; cuts, bytes and times of every shard, budgets, what the run is expected to
// take.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_plan(command_line& line);

}  // namespace hydra::apps
