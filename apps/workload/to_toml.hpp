#pragma once
// Tree of values -> TOML text.

#include "apps/workload/value.hpp"

#include <string>

namespace hydra::apps {

/// Tables of the first level get headers, deeper ones are written inline; numbers keep their spelling, comments are
/// lost. parse_toml() of the result gives the same tree.
std::string to_toml(const value_table& root);

/// One value on one line: `"adamw"`, `[0.9, 0.999]`, `{ kind = "cosine" }`.
std::string inline_toml(const value& v);

}  // namespace hydra::apps
