#pragma once
// Times on devices of different speeds.

#include "runtime/base/bytes.hpp"

#include <cmath>

namespace hydra {

/// Time on a device of this speed of what takes `cost` at speed 1, rounded to nanoseconds.
inline duration time_on(double speed, duration cost) {
  return speed == 1 ? cost : duration{std::llround(static_cast<double>(cost.count()) / speed)};
}

}  // namespace hydra
