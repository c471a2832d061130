#pragma once
// The units of a model without layers, bytes and times.

#include "partition/plan/cursor.hpp"
#include "partition/plan/plan_outline.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace hydra::test {

/// `stepped`: so many of its first shards are stepped on the device; `groups`: shards side by side.
inline cursor plain_cursor(model_id id, const step_shape& shape, std::uint32_t steps,
                           const evaluation_schedule& evaluation = {}, std::uint32_t stepped = 0,
                           std::vector<shard_group> groups = {}) {
  model_plan plan;
  plan.micro_batches = shape.micro_batches;
  plan.replicas = shape.replicas;
  plan.waves = shape.waves;
  plan.first_trained = shape.first_trained;
  plan.groups = std::move(groups);
  plan.evaluation = evaluation.range;
  plan.shards.resize(shape.shards);
  for (std::uint32_t s = 0; s < stepped; ++s) {
    plan.shards[s].steps_on_device = true;
  }
  return {id, graphs_of(plan), steps, evaluation};
}

/// All of the first lane.
inline std::vector<unit> units_in_order(const cursor& units) {
  std::vector<unit> all;
  for (auto p = units.begin_of(0, 0); !units.at_end(p); p = units.next(p)) {
    all.push_back(units.unit_at(p, 0));
  }
  return all;
}

}  // namespace hydra::test
