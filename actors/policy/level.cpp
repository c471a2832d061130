#include "actors/policy/level.hpp"

#include "actors/policy/speed.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>

namespace hydra {

std::size_t faster_devices(const device_state& device, const policy_view& view) {
  return static_cast<std::size_t>(
      std::ranges::count_if(view.devices, [&](const device_state& d) { return d.speed > device.speed; }));
}

std::optional<std::size_t> level::choose(const device_state& device, std::span<const candidate> candidates,
                                         const policy_view& view) {
  left_.look(view);
  return choose(device, candidates, view, left_);
}

std::optional<std::size_t> level::choose(const device_state& device, std::span<const candidate> candidates,
                                         const policy_view& view, const fluid& left) {
  rank_models(view);
  sort_candidates(candidates);
  const auto faster = faster_devices(device, view);
  for (const auto i : sorted_) {
    if (rank(candidates[i]) >= faster && feasible(candidates[i], device, view, left)) {
      return i;
    }
  }
  if (device.speed >= left.fastest()) {
    return longest_first(device, candidates);
  }
  const auto second = second_best(device, candidates, view, left);
  return sooner_elsewhere(candidates[second], device, view) ? std::nullopt : std::optional{second};
}

void level::rank_models(const policy_view& view) {
  order_.resize(view.models.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t i) { return view.models[i].remaining; });
  ranks_.resize(order_.size());
  for (std::size_t r = 0; r < order_.size(); ++r) {
    ranks_[order_[r]] = r;
  }
}

void level::sort_candidates(std::span<const candidate> candidates) {
  sorted_.resize(candidates.size());
  std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
  std::ranges::sort(sorted_, {}, [&](std::size_t i) { return rank(candidates[i]); });
}

bool level::feasible(const candidate& c, const device_state& device, const policy_view& view, const fluid& left) const {
  if (device.speed >= left.fastest()) {
    return true;
  }
  const auto rest = nanoseconds(c.remaining - c.cost) / left.fastest();
  const auto end = left.until_free(device, view) + nanoseconds(c.cost) / device.speed + rest;
  return end <= left.end();
}

/// There is no feasible one at the device's rank or after it.
std::size_t level::second_best(const device_state& device, std::span<const candidate> candidates,
                               const policy_view& view, const fluid& left) const {
  const auto faster = faster_devices(device, view);
  for (const auto i : std::views::reverse(sorted_)) {
    if (rank(candidates[i]) < faster && feasible(candidates[i], device, view, left)) {
      return i;
    }
  }
  for (const auto i : sorted_) {
    if (rank(candidates[i]) >= faster) {
      return i;
    }
  }
  return sorted_.front();
}

bool level::sooner_elsewhere(const candidate& c, const device_state& device, const policy_view& view) const {
  const auto ends = [&](const device_state& d) {
    return nanoseconds(view.until_free(d)) + nanoseconds(c.cost) / d.speed;
  };
  return std::ranges::any_of(view.devices, [&](const device_state& g) {
    return g.speed > device.speed && !avoids(c, g.device) && ends(g) + nanoseconds(g.staged) < ends(device);
  });
}

}  // namespace hydra
