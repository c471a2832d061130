#pragma once
// Conversion between JSON and text. These functions are not inline: instantiating a parser or a writer of the library
// adds two seconds each to the compile time of a source.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hydra {

/// On one line, or indented by that many spaces per level. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json& value, int spaces = -1);
std::string json_text(const nlohmann::ordered_json& value, int spaces = -1);

/// Throws nlohmann::json::parse_error; fault_error{bad_input} for what is nested deeper than deepest_json
/// (runtime/base/json_depth.hpp).
nlohmann::json parse_json(std::string_view text);
/// Keeps the order of members.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

}  // namespace hydra
