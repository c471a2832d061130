#pragma once
// Lists of integers in options that are texts: "3,4,6,3".

#include <cstdint>
#include <string_view>
#include <vector>

namespace hydra {

/// Integers separated by commas, with optional blanks. `what` names the option, as in "resnet: depths". Throws
/// fault_error{bad_input} for anything else, and for an empty list.
std::vector<std::int64_t> integer_list(std::string_view what, std::string_view text);

/// The same, and no integers for "none".
std::vector<std::int64_t> integers_or_none(std::string_view what, std::string_view text);

}  // namespace hydra
