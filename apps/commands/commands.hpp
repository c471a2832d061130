#pragma once
// What declares the options of each command, `hydra train` and the others, in the order of their table. One file has
// each.

#include "apps/commands/command.hpp"

namespace hydra::apps {

command_action declare_init(command_line& line);
command_action declare_train(command_line& line);
command_action declare_node(command_line& line);
command_action declare_cluster(command_line& line);
command_action declare_plan(command_line& line);
command_action declare_data(command_line& line);
command_action declare_simulate(command_line& line);
command_action declare_study(command_line& line);
command_action declare_evaluate(command_line& line);
command_action declare_control(command_line& line);
command_action declare_report(command_line& line);
command_action declare_export(command_line& line);
command_action declare_generate(command_line& line);
command_action declare_bench(command_line& line);
command_action declare_tokenize(command_line& line);
command_action declare_devices(command_line& line);
command_action declare_policies(command_line& line);
command_action declare_families(command_line& line);

}  // namespace hydra::apps
