#pragma once
// The kinds of a chain's layers, short enough for a table.

#include "partition/profile/profile.hpp"

#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

/// For each layer the name of its kind, and those of its options that not all layers of this name have: "llama block"
/// where all blocks are alike, "llama block window=512" where windows differ. "..." stands for others.
std::vector<std::string> short_kinds(std::span<const layer_profile> layers);

}  // namespace hydra::apps
