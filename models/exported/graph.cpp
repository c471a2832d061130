#include "models/exported/graph.hpp"

#include <array>

namespace hydra {

namespace {

struct row {
  const char* name;
  std::uint64_t width;
};

/// In the order of value_type.
constexpr std::array rows{row{"f32", 4}, row{"f64", 8}, row{"bf16", 2}, row{"f16", 2}, row{"i64", 8},
                          row{"i32", 4}, row{"i16", 2}, row{"i8", 1},   row{"u8", 1},  row{"bool", 1}};

}  // namespace

std::uint64_t width_of(value_type type) noexcept { return rows[static_cast<std::size_t>(type)].width; }

std::string to_string(value_type type) { return rows[static_cast<std::size_t>(type)].name; }

namespace {

void collect(const size_expression& size, std::vector<std::string>& names) {
  if (size.what == size_expression::kind::of_value) names.push_back(size.value);
  for (const size_expression& operand : size.operands) collect(operand, names);
}

void collect(const graph_argument& a, std::vector<std::string>& names) {
  if (const auto* const value = std::get_if<value_reference>(&a.is)) names.push_back(value->name);
  if (const auto* const size = std::get_if<size_expression>(&a.is)) collect(*size, names);
  if (const auto* const list = std::get_if<argument_list>(&a.is))
    for (const graph_argument& one : *list) collect(one, names);
}

}  // namespace

std::vector<std::string> values_in(const graph_argument& a) {
  std::vector<std::string> names;
  collect(a, names);
  return names;
}

}  // namespace hydra
