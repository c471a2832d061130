#include "actors/policy/band.hpp"

#include "actors/policy/step_boundary.hpp"

#include <algorithm>

namespace hydra {

namespace {

std::size_t stay_or_avoid(const device_state& device, std::span<const candidate> candidates) {
  if (const auto own = candidate_of(device.last, candidates)) {
    return *own;
  }
  return best_candidate(device, candidates, [](const candidate& a, const candidate& b) {
    const auto x = avoidable_transfer(a);
    const auto y = avoidable_transfer(b);
    return x != y ? x < y : a.remaining > b.remaining;
  });
}

}  // namespace

std::optional<std::size_t> band::choose(const device_state& device, std::span<const candidate> candidates,
                                        const policy_view& view) {
  left_.look(view);
  if (options_.hold && holds(device, view)) {
    return std::nullopt;
  }
  if (equal_speeds(view)) {
    return lla_.choose(device, candidates, view, left_, options_.stay ? stay_or_avoid : lla::least_transfer);
  }
  return in_band(device, candidates, view);
}

/// Waiting for longer than the margin would cost more than losing the slot of the critical model.
bool band::holds(const device_state& device, const policy_view& view) {
  const auto* m = model_at_step_boundary(device, view);
  if (m == nullptr) {
    return false;
  }
  const auto margin = left_.margin(options_.margin, m->next_cost);
  return left_.laxity(device, m->remaining, view) <= margin && patience_.lasts(device, *m, view.now, margin);
}

std::optional<std::size_t> band::in_band(const device_state& device, std::span<const candidate> candidates,
                                         const policy_view& view) {
  const auto p = level_.choose(device, candidates, view, left_);
  const auto own = candidate_of(device.last, candidates);
  if (!p || !own || !own_band(candidates[*own], device, view)) {
    return p;
  }
  const auto& mine = candidates[*own];
  const auto& other = candidates[*p];
  constexpr int lead = 4;  // of its units
  const auto gain = lead * mine.cost + other.transfer_time - mine.transfer_time;
  return other.remaining - mine.remaining < gain ? own : p;
}

bool band::own_band(const candidate& own, const device_state& device, const policy_view& view) const {
  const auto rank = level_.rank(own);
  const auto as_fast = static_cast<std::size_t>(
      std::ranges::count_if(view.devices, [&](const device_state& d) { return d.speed >= device.speed; }));
  const bool slowest = as_fast == view.devices.size();
  return rank >= faster_devices(device, view) && (slowest || rank < as_fast);
}

}  // namespace hydra
