#pragma once
// What a person means by arguments that a command does not take.

#include <string>
#include <vector>

namespace hydra::apps {

/// A line for each argument that is known: a word of another tool, a key of the workload, or nearly one of `options`,
/// which are the command's own, without dashes. A command with "set" among them reads a workload. `arguments` in the
/// order of the command line.
std::vector<std::string> lines_on_unexpected(const std::vector<std::string>& arguments,
                                             const std::vector<std::string>& options);

}  // namespace hydra::apps
