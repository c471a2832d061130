#pragma once
// apps/commands/ holds one file for each command of the `hydra` program, and the table of them. To add one: write a
// function that declares its options and returns what it does, add a line in commands.hpp and a row in command.cpp.
//
// stdout carries results only; messages, progress and the log go to stderr.

#include "apps/commands/command_line.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

/// What a command does once its options are read; the result is the exit status.
using command_action = std::function<int()>;

struct command {
  std::string name;
  std::string help;
  /// Declares the options on `line` and returns the action, which owns what they are read into.
  command_action (*declare)(command_line& line);
};

const std::vector<command>& commands();

}  // namespace hydra::apps
