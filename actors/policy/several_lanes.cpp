#include "actors/policy/several_lanes.hpp"

#include "actors/policy/interleaved_order.hpp"
#include "actors/policy/longest_first.hpp"

#include <algorithm>
#include <tuple>

namespace hydra {

bool several_lanes::in(const policy_view& view) {
  return std::ranges::any_of(view.models, [](const model_state& m) { return m.lane > 0; });
}

std::optional<std::size_t> several_lanes::choose(const device_state& device, std::span<const candidate> candidates,
                                                 const policy_view& view) {
  learn(candidates);
  count(view);
  const auto own = own_model(device);
  const auto key = [&](const candidate& c) {
    return std::tuple{!is_pipeline(c, view), load_rank(c, view), -path(c, view), c.next.model != own};
  };
  std::optional<std::size_t> best;  // of equals the last one: of equal lanes another one than that chosen before
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!waits(candidates[i], device, view) && (!best || key(candidates[i]) <= key(candidates[*best]))) {
      best = i;
    }
  }
  return best;
}

void several_lanes::learn(std::span<const candidate> candidates) {
  for (const auto& c : candidates) {
    auto& t = times_[c.next.model];
    t.load = c.hit ? t.load : c.transfer_time - c.boundary_time;
    if (c.next.way != direction::evaluate) {
      (c.next.way == direction::forward ? t.forward : t.backward) = c.cost;
    }
    t.longest_backward = std::max(t.longest_backward, t.backward);
  }
}

/// The longest shard's backward visits of later waves follow each other: step_graph.
duration several_lanes::path(const candidate& c, const policy_view& view) const {
  const auto later_waves = crowded(view) ? 0 : view.models[c.model_at].shape.waves - 1 - c.next.wave.value;
  return c.remaining + times_.at(c.next.model).longest_backward * later_waves;
}

void several_lanes::count(const policy_view& view) {
  replicas_before_.clear();
  replicas_ = 0;
  for (const auto& m : view.models) {
    waits_for_copies_ = waits_for_copies_ || m.flights > m.staged_units + (m.running ? 1 : 0);
    if (m.lane == 0) {
      replicas_before_[m.model] = replicas_;
      replicas_ += m.shape.replicas;
    }
  }
}

bool several_lanes::crowded(const policy_view& view) const {
  return view.models.size() > view.devices.size() && replicas_before_.size() > 1;
}

bool several_lanes::loads_slowly(model_id model) const {
  const auto& t = times_.at(model);
  return t.forward > duration{} && t.load > t.forward;
}

bool several_lanes::is_pipeline(const candidate& c, const policy_view& view) const {
  const auto& shape = view.models[c.model_at].shape;
  const auto& t = times_.at(c.next.model);
  const bool several = shape.lanes() > 1;
  const auto backward = t.backward > duration{} ? t.backward : 2 * t.forward;
  const bool fits = view.devices.size() >= (shape.waves > 1 ? replicas_ : 2 * replicas_);
  const bool slow = loads_slowly(c.next.model);
  const bool pays = shape.waves > 1 ? slow || waits_for_copies_ : slow && t.load > backward && !waits_for_copies_;
  return several && fits && pays && c.next.way != direction::evaluate;
}

stages several_lanes::own_stages(const candidate& c, const policy_view& view) const {
  const auto from = [&](std::size_t replica) { return replica * view.devices.size() / replicas_; };
  const auto& shape = view.models[c.model_at].shape;
  const auto replica = replicas_before_.at(c.next.model) + c.next.replica.value;
  return {shape.shards, shape.waves > 1 ? dealing::round_robin : dealing::groups,
          {.offset = from(replica), .count = from(replica + 1) - from(replica)}};
}

bool several_lanes::waits(const candidate& c, const device_state& device, const policy_view& view) const {
  if (!is_pipeline(c, view)) {
    return false;
  }
  const auto dealt = own_stages(c, view);
  if (dealt.device_of(c, view) != device.device) {
    return true;
  }
  const auto& shape = view.models[c.model_at].shape;
  const auto group = std::max(dealt.count(), shape.waves);
  const interleaved_order order(shape, dealt.count(), dealt.stage_of(c.next.shard), group);
  return shape.waves > 1 && !order.in_turn(c.next, waves_of(c, view));
}

std::uint8_t several_lanes::load_rank(const candidate& c, const policy_view& view) const {
  if (c.hit || !loads_slowly(c.next.model)) {
    return 0;
  }
  return crowded(view) && c.elsewhere && !c.chained ? 2 : 1;
}

}  // namespace hydra
