#include "actors/run/session_options.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

session_options checked(session_options o) {
  constexpr double most_minutes = 1e6;
  const auto minutes = o.checkpoint.every_minutes;
  if (!(minutes >= 0 && minutes <= most_minutes)) {  // false for NaN
    throw fault_error(fault_code::bad_input, fmt::format("checkpoint.every_minutes: {} is out of range; use 0 (off) to {:.0f}",
                                                         minutes, most_minutes));
  }
  return o;
}

}  // namespace hydra
