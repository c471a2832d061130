#pragma once
// A number in a table.

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace hydra {

/// With so many digits after the point. NaN has a sign, which says nothing.
inline std::string number_text(double x, int digits) {
  return std::isnan(x) ? "nan" : fmt::format("{:.{}f}", x, digits);
}

}  // namespace hydra
