#include "runtime/base/option.hpp"

#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace hydra {

namespace {

std::string text_of(const option_value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_arithmetic_v<type> || std::is_same_v<type, std::string>) {
          return fmt::format("{}", v);
        } else {
          return to_string(v);
        }
      },
      value);
}

/// "an integer of at least 1", "one of \"a\", \"b\""
std::string allowed(const option& o) {
  constexpr std::array types{"true or false", "an integer", "a number", "a text", "a size", "a rate", "a time"};
  static_assert(types.size() == std::variant_size_v<option_value>);
  return o.choices.empty() ? types.at(o.standard.index()) + to_string(o.range) : one_of(o.choices);
}

bool holds(const option& o, const option_value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return o.choices.empty() || std::ranges::count(o.choices, *text) > 0;
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return o.range.holds(*number);
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr || o.range.holds(static_cast<double>(*integer));
}

const option& find(const std::string& owner, const std::string& name, const std::vector<option>& known) {
  return find_known(owner + ": there is no option", known, name, &option::name);
}

/// In the option's type.
option_value checked(const std::string& owner, const option& o, option_value value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && std::holds_alternative<double>(o.standard)) {
    value = static_cast<double>(*integer);
  }
  if (value.index() != o.standard.index() || !holds(o, value)) {
    refuse(fmt::format("{}: option {} must be {}, got {}", owner, o.name, allowed(o),
                       std::holds_alternative<std::string>(value) ? '"' + text_of(value) + '"' : text_of(value)));
  }
  return value;
}

}  // namespace

bool number_range::holds(double x) const noexcept {
  return std::isfinite(x) && (open_least ? x > least : x >= least) && (open_most ? x < most : x <= most);
}

std::string default_text(const option& o) {
  if (o.required) {
    return {};
  }
  return o.otherwise.empty() ? text_of(o.standard) : o.otherwise;
}

std::string to_string(const number_range& range) {
  std::vector<std::string> parts;
  if (std::isfinite(range.least)) {
    parts.push_back(fmt::format("{} {}", range.open_least ? "above" : "of at least", range.least));
  }
  if (std::isfinite(range.most)) {
    parts.push_back(fmt::format("{} {}", range.open_most ? "below" : "at most", range.most));
  }
  return parts.empty() ? "" : fmt::format(" {}", fmt::join(parts, " and "));
}

std::string one_of(const std::vector<std::string>& choices) {
  return fmt::format("{}\"{}\"", choices.size() == 1 ? "" : "one of ", fmt::join(choices, "\", \""));
}

option_values complete(const std::string& owner, const option_values& given, const std::vector<option>& known) {
  option_values values;
  for (const auto& [name, value] : given) {
    values.emplace(name, checked(owner, find(owner, name, known), value));
  }
  for (const auto& o : known) {
    if (o.required && !values.contains(o.name)) {
      refuse(fmt::format("{}: option {} ({}) is missing", owner, o.name, o.help));
    }
    if (!o.required && o.otherwise.empty()) {
      values.emplace(o.name, o.standard);
    }
  }
  return values;
}

std::map<std::string, double> complete_numbers(const std::string& owner, const std::map<std::string, double>& given,
                                               std::vector<option> known) {
  for (auto& o : known) {
    if (const auto* const integer = std::get_if<std::int64_t>(&o.standard)) {
      o.standard = static_cast<double>(*integer);
    }
  }
  std::map<std::string, double> all;
  for (const auto& [name, value] : complete(owner, {given.begin(), given.end()}, known)) {
    all.emplace(name, std::get<double>(value));
  }
  return all;
}

}  // namespace hydra
