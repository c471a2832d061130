#pragma once
// Times on devices of different speeds.

#include "runtime/base/bytes.hpp"

#include <cmath>

namespace hydra {

/// For arithmetic with speeds.
constexpr double nanoseconds(duration d) noexcept { return static_cast<double>(d.count()); }

/// Time on a device of this speed of what takes `cost` at speed 1, rounded to nanoseconds.
inline duration time_on(double speed, duration cost) {
  return speed == 1 ? cost : duration{std::llround(nanoseconds(cost) / speed)};
}

}  // namespace hydra
