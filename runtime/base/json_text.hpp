#pragma once
// JSON and its text. Here, because a source that makes a parser or a writer of the library itself is compiled two seconds longer
// for each.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hydra {

/// In one line, or with so many spaces for each level. Bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& value, int spaces = -1);
std::string json_text(const nlohmann::ordered_json& value, int spaces = -1);

/// Throws nlohmann::json::parse_error; fault_error{bad_input} for what is nested deeper than deepest_json (runtime/base/json_depth.hpp).
nlohmann::json parse_json(std::string_view text);
/// Members stay in their order.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

}  // namespace hydra
