#pragma once
// Which policies are simulated.

#include <string>
#include <vector>

namespace hydra::apps {

/// All built-in ones that choose without chance and without a search or a file: what is compared unless asked for others.
std::vector<std::string> default_policies();

/// "a,b,c", "all" (all built-in ones that need no file), or nothing: the default. Each once, in the order given. Throws
/// fault_error{bad_input} that names the nearest known policy.
std::vector<std::string> parse_policies(const std::string& text);

}  // namespace hydra::apps
