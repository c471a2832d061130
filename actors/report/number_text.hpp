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

/// Of a share, with one digit after the point.
inline std::string percent_text(double share) { return number_text(share * 100, 1) + " %"; }

}  // namespace hydra
