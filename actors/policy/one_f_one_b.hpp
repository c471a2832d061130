#pragma once
// One forward, one backward (PipeDream-Flush, Narayanan et al. 2021). Standard library only.

#include "actors/policy/lane_places.hpp"
#include "actors/policy/pipeline_policy.hpp"

#include <algorithm>

namespace hydra {

/// A device prefers a backward visit to a forward visit, and a wave enters stage s only while less than (stages - s)
/// earlier ones are under way there: in, and not out again by their last backward visit (a stage without trained shards
/// has none: at once). Later waves do not count, so the earliest one can always go on, whatever has been lost.
class one_f_one_b final : public pipeline_policy {
 public:
  one_f_one_b() : pipeline_policy(dealing::groups, prefers::backward) {}
  std::string name() const override { return "one-f-one-b"; }

 protected:
  bool lets_in(const visit& v) const override {
    const auto first = v.dealt.first_shard(v.stage);
    if (v.next.way == direction::backward || v.next.shard.value != first) {
      return true;  // it has entered before
    }
    const auto& shape = v.waves.front().shape;
    if (v.dealt.first_shard(v.stage + 1) <= shape.first_trained) {
      return true;
    }
    const shard_index last{std::max(first, shape.first_trained)};
    const auto out = lane_places(shape).of(direction::backward, last);
    const auto under_way = std::ranges::count_if(v.waves.first(v.next.wave.value), [&](const model_state& w) {
      const auto placed = placed_in(v.next.step, w);
      return placed > first && placed <= out;
    });
    return static_cast<std::uint32_t>(under_way) < v.dealt.count() - v.stage;
  }
};

}  // namespace hydra
