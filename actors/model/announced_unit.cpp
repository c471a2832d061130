#include "actors/model/announced_unit.hpp"

#include "partition/plan/cursor.hpp"
#include "runtime/base/bytes.hpp"

#include <cmath>
#include <utility>

namespace hydra {

namespace {

/// Remaining wall time: it includes copies that cannot be hidden.
duration wall_time(const cursor& units, unit_position p, double scale) {
  return duration{std::llround(static_cast<double>(units.remaining(p).count()) * scale)};
}

/// The output of its predecessor, of all micro-batches.
byte_count boundary_of(const unit& u, const sharded_model& what) {
  const auto& shard = what.plan.shards[u.shard.value];
  const bool last = u.shard.value + 1 == what.size();
  const auto one = u.way == direction::backward && !last ? shard.output
                   : u.shard.value == 0                  ? byte_count{}
                                                         : shard.input;
  return one * u.micro_batches;
}

}  // namespace

unit_ready announced_unit(const announcement& next, const cursor& units, const sharded_model& what,
                          std::vector<device_id> avoid) {
  const auto p = units.position_of(next.what);
  const auto then = units.next(p);
  const bool last = units.at_end(then);
  const auto& shard = what.plan.shards[next.what.shard.value];
  return {next.what,
          next.after,
          wall_time(units, p, what.remaining_scale),
          units.time_of(p),
          shard.base + shard.parameters,
          std::move(avoid),
          boundary_of(next.what, what),
          last ? duration{} : wall_time(units, then, what.remaining_scale),
          last ? duration{} : units.time_of(then),
          !last && units.first_of_step(then) && what.share.whole(),  // a share's step ends when those of other nodes do
          shard.is_mostly_frozen() ? std::optional(what.plan.base_of(next.what)) : std::nullopt};
}

}  // namespace hydra
