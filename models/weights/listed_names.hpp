#pragma once
// Names of tensors or files in a message.

#include <span>
#include <string>

namespace hydra {

/// "a, b, c, d, e and 3 more".
std::string listed_names(std::span<const std::string> names);

}  // namespace hydra
