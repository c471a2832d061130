#pragma once
// How deep JSON from foreign files may be nested.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace hydra {

/// Limit on arrays and objects within each other. The library copies, compares and writes values by recursion:
/// unlimited depth would overflow the stack.
inline constexpr int deepest_json = 100;

/// For parser callbacks: whether the array or object that starts here is nested deeper than the limit.
inline bool is_nested_too_deep(int depth, nlohmann::json::parse_event_t event) noexcept {
  using parse_event = nlohmann::json::parse_event_t;
  return depth >= deepest_json && (event == parse_event::object_start || event == parse_event::array_start);
}

/// "is nested more than 100 deep".
inline std::string nested_too_deep() { return fmt::format("is nested more than {} deep", deepest_json); }

}  // namespace hydra
