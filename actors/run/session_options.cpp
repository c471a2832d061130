#include "actors/run/session_options.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

session_options checked(session_options o) {
  constexpr double most_minutes = 1e6;
  const auto minutes = o.checkpoint.every_minutes;
  if (!(minutes >= 0 && minutes <= most_minutes)) {  // false for NaN
    throw fault_error(
        fault_code::bad_input,
        fmt::format("checkpoint.every_minutes: {} is out of range; use 0 (off) to {:.0f}", minutes, most_minutes));
  }
  if (o.begin_paused && (o.output.empty() || o.checkpoint.keep == 0)) {
    throw fault_error(fault_code::bad_input,
                      "begin_paused: models that are resumed start from their checkpoints; give the run a "
                      "folder and checkpoint.keep of 1 or more");
  }
  if (o.begin_paused && o.goal.is_set()) {
    throw fault_error(fault_code::bad_input,
                      "begin_paused: devices are chosen for all models of a run, and these are given to it one by one; "
                      "leave the goal out");
  }
  return o;
}

}  // namespace hydra
