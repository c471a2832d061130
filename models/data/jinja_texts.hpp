#pragma once
// The texts in a chat template in Jinja, which is not run.

#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Lines that the template may write of a conversation, in its order, without white space around them: its own text,
/// and what stands in quotes in {{ }} and {% set %}, but not arguments of functions, keys, and what is compared. What
/// is only written for tools, pictures and the like or before a generation, and macros, are left out. A rough reading:
/// it does not know variables.
std::vector<std::string> jinja_texts(std::string_view source);

}  // namespace hydra
