#include "actors/policy/pipeline_policy.hpp"

#include <tuple>

namespace hydra {

std::optional<std::size_t> pipeline_policy::choose(const device_state& device, std::span<const candidate> candidates,
                                                   const policy_view& view) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if ((!best || better(candidates[i], candidates[*best])) && may_visit(candidates[i], device, view)) {
      best = i;
    }
  }
  return best;
}

bool pipeline_policy::may_visit(const candidate& c, const device_state& device, const policy_view& view) const {
  const auto dealt = shared_stages(c, how_, view);
  if (dealt.device_of(c, view) != device.device) {
    return false;
  }
  const bool waves = view.models[c.model_at].shape.lanes_alike();  // pieces follow each other in no order of waves
  return c.next.way == direction::evaluate || !waves ||
         lets_in({c.next, dealt, dealt.stage_of(c.next.shard), waves_of(c, view)});
}

bool pipeline_policy::better(const candidate& a, const candidate& b) const {
  const auto key = [this](const candidate& c) {
    const bool backward = c.next.way == direction::backward;
    const bool later = first_ != prefers::neither && backward != (first_ == prefers::backward);
    return std::tuple{later, c.next.wave, -c.remaining};
  };
  return key(a) < key(b);
}

}  // namespace hydra
