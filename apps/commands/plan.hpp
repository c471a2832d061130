#pragma once
// hydra plan W.toml: the pilot pass alone; cuts, bytes and times of every shard, budgets, what the run is expected to take.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_plan(CLI::App& app);

}  // namespace hydra::apps
