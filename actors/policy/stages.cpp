#include "actors/policy/stages.hpp"

#include "actors/policy/lane_places.hpp"

#include <algorithm>

namespace hydra {

stages::stages(std::uint32_t shards, dealing how, const devices& of_replica)
    : how_(how),
      shards_(shards),
      count_(static_cast<std::uint32_t>(std::min<std::size_t>(shards, of_replica.count))),
      offset_(of_replica.offset) {}

device_id stages::device_of(const candidate& c, const policy_view& view) const {
  const auto at = [&](std::size_t i) { return view.devices[i % view.devices.size()].device; };
  auto home = offset_ + stage_of(c.next.shard);
  for (std::size_t tried = 1; tried < view.devices.size() && avoids(c, at(home)); ++tried) {
    ++home;
  }
  return at(home);
}

stages shared_stages(const candidate& c, dealing how, const policy_view& view) {
  const auto& shape = view.models[c.model_at].shape;
  const auto each = std::max<std::size_t>(1, view.devices.size() / shape.replicas);
  return {shape.shards, how, {.offset = c.next.model.value + c.next.replica.value * each, .count = each}};
}

std::uint32_t placed_in(step_index step, const model_state& lane) {
  if (!lane.step || *lane.step > step) {
    return lane_places(lane.shape).count();
  }
  return *lane.step == step ? lane.place : 0;
}

}  // namespace hydra
