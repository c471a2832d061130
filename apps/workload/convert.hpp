#pragma once
// Checked values -> C++ values.

#include "apps/workload/value.hpp"
#include "runtime/base/bytes.hpp"

#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hydra::apps {

/// "75%" -> 0.75; nothing unless it is a number in (0, 100] and a percent sign.
std::optional<double> to_fraction(std::string_view percent);

byte_count bytes_from(const value& v);
byte_rate rate_from(const value& v);
duration duration_from(const value& v);
double real_from(const value& v);

/// A value that the rules have accepted, as a T. Quantities throw fault_error{bad_input} without a place.
template <class T>
T to(const value& v) {
  if constexpr (std::same_as<T, byte_count>)
    return bytes_from(v);
  else if constexpr (std::same_as<T, byte_rate>)
    return rate_from(v);
  else if constexpr (std::same_as<T, duration>)
    return duration_from(v);
  else if constexpr (std::same_as<T, bool>)
    return std::get<bool>(v.content);
  else if constexpr (std::integral<T>)
    return static_cast<T>(std::get<std::int64_t>(v.content));
  else if constexpr (std::floating_point<T>)
    return static_cast<T>(real_from(v));
  else
    return T{std::get<std::string>(v.content)};
}

/// Copies a checked value into a member; without the key the member keeps its default.
template <class T>
void assign(const value_table& table, std::string_view key, T& member) {
  if (const value* const v = table.find(key)) member = to<T>(*v);
}

/// The table under a key, or an empty one.
const value_table& sub_table(const value_table& table, std::string_view key);

/// The tables of [[key]], or the values of a list; none without the key.
const value_list& sub_tables(const value_table& table, std::string_view key);

/// The values of a list, or the one that is given without a list; none without the key.
template <class T>
std::vector<T> read_list(const value_table& table, std::string_view key) {
  const value* const given = table.find(key);
  if (!given) return {};
  const auto* const list = given->as<value_list>();
  if (!list) return {to<T>(*given)};
  std::vector<T> values;
  for (const value& each : *list) values.push_back(to<T>(each));
  return values;
}

}  // namespace hydra::apps
