#include "actors/model/announced_unit.hpp"

#include <cmath>
#include <utility>

namespace hydra {

namespace {

/// Remaining wall time: it includes copies that cannot be hidden.
duration wall_time(const cursor& units, const unit_position& p, double scale) {
  return duration{std::llround(static_cast<double>(units.remaining(p).count()) * scale)};
}

}  // namespace

unit_ready announced_unit(const announcement& next, const cursor& units, double scale, std::vector<device_id> avoid) {
  const auto p = units.position_of(next.what);
  const auto then = units.next(p);
  const bool last = units.at_end(then);
  return {.what = next.what,
          .after = next.after,
          .avoid = std::move(avoid),
          .remaining = wall_time(units, p, scale),
          .cost = units.time_of(next.what),
          .then_remaining = last ? duration{} : wall_time(units, then, scale),
          .then_cost = last ? duration{} : units.time_of(units.unit_at(then, 0))};
}

}  // namespace hydra
