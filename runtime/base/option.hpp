#pragma once
// An option: a name, a type, a default and what is allowed. Model families, policies and kinds of devices describe what
// they take by a list of these; values are checked against it before anything is made. Standard library only.

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// The value of an option; its alternative is the option's type.
using option_value = std::variant<bool, std::int64_t, double, std::string, byte_count, byte_rate, duration>;
using option_values = std::map<std::string, option_value>;

/// Bounds of a number; each belongs to the allowed values unless it is open.
struct number_range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open_least = false;
  bool open_most = false;

  bool holds(double x) const noexcept;  ///< false for NaN and infinities
};

struct option {
  std::string name;
  option_value standard;               ///< the default; of a required option only its type counts
  bool required = false;
  std::string help{};
  number_range range{};                ///< of numbers
  std::vector<std::string> choices{};  ///< of texts; empty: any
  std::string otherwise{};             ///< what holds if it is not given, where no value can say that: "measured"
};

/// The default as in a table: "16", "false", "measured"; empty if the option is required.
std::string default_text(const option& o);

/// " of at least 1 and at most 1024"; empty without bounds.
std::string to_string(const number_range& range);

/// "one of \"fp32\", \"bf16\"".
std::string one_of(const std::vector<std::string>& choices);

/// The values that are given, each of its option's type (an integer is taken where a number is expected), and the
/// defaults of the other options, except for those with `otherwise`. Throws fault_error{bad_input} that starts with
/// `owner` and names the option: unknown (with the nearest name), of another type, not allowed, or missing.
option_values complete(const std::string& owner, const option_values& given, const std::vector<option>& known);

/// The same of options that are all numbers; integers may be their defaults.
std::map<std::string, double> complete_numbers(const std::string& owner, const std::map<std::string, double>& given,
                                               std::vector<option> known);

/// Of a completed option. T is the option's type.
template <class T>
const T& get(const option_values& values, const std::string& name) {
  return std::get<T>(values.at(name));
}

}  // namespace hydra
