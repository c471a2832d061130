#pragma once
// Is a text well-formed XML? Enough of a parser for pages and drawings.

#include <string>
#include <string_view>

namespace hydra::apps {

/// What is wrong first; empty if every tag is closed in order, attributes are quoted, and no stray "<" or "&" is left.
std::string xml_fault(std::string_view text);

}  // namespace hydra::apps
