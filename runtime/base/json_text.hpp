#pragma once
// Conversion between JSON and text. These functions are not inline: instantiating a parser or a writer of the library
// adds two seconds each to the compile time of a source.

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace hydra {

/// On one line, or indented by that many spaces per level. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::json& value, int spaces = -1);
std::string json_text(const nlohmann::ordered_json& value, int spaces = -1);

/// Limit on arrays and objects within each other in files. The library copies, compares and writes values by recursion:
/// unlimited depth would overflow the stack.
inline constexpr int deepest_json = 100;

/// Throws nlohmann::json::parse_error; fault_error{bad_input} for what is nested deeper than deepest_json.
nlohmann::json parse_json(std::string_view text);
/// Refuses also a key that an object has twice (of which parse_json keeps the last one), by fault_error{bad_input}.
nlohmann::json parse_json_strictly(std::string_view text);
/// Keeps the order of members.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// A value for messages: the start of its text (shown_text.hpp).
std::string shown_json(const nlohmann::json& value);
std::string shown_json(const nlohmann::ordered_json& value);

/// What an exception of the library says, for people and shown(): `models[0].name: null is given, expected a text`. The
/// one place that knows the library's texts.
std::string json_complaint(const std::exception& e);

}  // namespace hydra
