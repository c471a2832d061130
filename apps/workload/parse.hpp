#pragma once
// TOML text -> tree of values. The only place that knows the TOML library.

#include "apps/workload/value.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hydra::apps {

/// Throws fault_error{bad_input} with file and line for text that is not TOML. `file` is only named.
value_table parse_toml(std::string_view text, const std::string& file);

/// Nothing unless the text is one TOML value.
std::optional<value> parse_value(std::string_view text);

}  // namespace hydra::apps
