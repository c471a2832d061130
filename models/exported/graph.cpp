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

}  // namespace hydra
