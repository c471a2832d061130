#include "actors/model/announced_unit.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

/// The last unit of a step of two shards.
unit_ready last_of_step(const step_share& share) {
  sharded_model what;
  what.share = share;
  what.plan.shards.resize(2);
  const cursor units(model_id{4}, {.shards = 2, .micro_batches = 1}, 3);
  const unit_position last{.step = 0, .index = units.units_per_step() - 1};
  return announced_unit({.what = units.unit_at(last, 0), .after = {}}, units, what, {});
}

}  // namespace

TEST_CASE("a device may be kept for the next step of a model, unless other nodes train that with this one") {
  CHECK(last_of_step({}).then_begins_step);
  CHECK_FALSE(last_of_step({.first = 1, .replicas = 1, .of = 2, .team = 1}).then_begins_step);
}
