#pragma once
// What a person means who gives a command of another program, as data. To add one: a line of other_commands.cpp, in its
// place; tests say whether the commands and options of its answer exist.

#include <span>
#include <string_view>

namespace hydra::apps {

struct other_command {
  std::string_view name;
  std::string_view answer;  ///< the command that does it, or what to do instead
};

std::span<const other_command> other_commands();  ///< sorted by their names

/// Empty if nothing is known of it.
std::string_view answer_to_command(std::string_view name);

}  // namespace hydra::apps
