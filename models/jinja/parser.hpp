#pragma once
// Reads the tree of a template.

#include "models/jinja/nodes.hpp"

#include <string_view>

namespace hydra::jinja {

/// Throws complaint with a line: what is not Jinja, or not in the subset (README.md), also filters and tests that are
/// not known.
block parse(std::string_view source);

/// Whether a block, or one within it, is what an assistant writes.
bool has_generation(const block& body);

}  // namespace hydra::jinja
