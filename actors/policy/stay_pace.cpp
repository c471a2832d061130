#include "actors/policy/stay_pace.hpp"

#include "actors/policy/longest_first.hpp"
#include "actors/policy/step_boundary.hpp"

#include <cstdint>
#include <tuple>

namespace hydra {

namespace {

/// The direction with which a device should continue if gradients block loads.
enum class phase : std::uint8_t { any, forward, backward };

phase phase_of(direction way) { return way == direction::backward ? phase::backward : phase::forward; }

bool off_phase(const candidate& c, phase p) { return p != phase::any && phase_of(c.next.way) != p; }

}  // namespace

std::optional<std::size_t> stay_pace::choose(const device_state& device, std::span<const candidate> candidates,
                                             const policy_view& view) {
  shared_ = shared_ || several_lanes::share_base(candidates);
  if ((shared_ || several_lanes::in(view)) && equal_speeds(view)) {
    return lanes_.choose(device, candidates, view);
  }
  early_ = early_ || !device.idle;
  if (!early_) {
    return late_.choose(device, candidates, view);
  }
  left_.look(view);
  pace_.look(view);
  end_ = pace_.end(left_);
  drains_.look(device, view);
  const auto choice = next(device, candidates, view);
  if (choice) {
    drains_.placed(device, candidates[*choice], view);
  }
  return choice;
}

std::optional<std::size_t> stay_pace::next(const device_state& device, std::span<const candidate> candidates,
                                           const policy_view& view) {
  if (holds(device, view)) {
    return std::nullopt;
  }
  if (!equal_speeds(view)) {
    return mixed_.choose(device, candidates, view, left_);
  }
  const auto longest = longest_first(device, candidates);
  const auto unit = longest_unit(view);
  const bool critical = laxity(device, candidates[longest].remaining, view) <= margin(unit);
  return critical ? longest : relaxed(device, candidates);
}

double stay_pace::laxity(const device_state& device, duration remaining, const policy_view& view) const {
  return end_ - left_.until_free(device, view) - static_cast<double>(remaining.count()) / left_.fastest();
}

double stay_pace::margin(duration unit) const {
  return options_.margin.units * static_cast<double>(unit.count()) + options_.margin.share * end_;
}

bool stay_pace::holds(const device_state& device, const policy_view& view) {
  const auto* m = model_at_step_boundary(device, view);
  return m != nullptr && laxity(device, m->remaining, view) <= margin(m->next_cost) &&
         patience_.lasts(device, *m, view.now, margin(m->next_cost));
}

std::size_t stay_pace::relaxed(const device_state& device, std::span<const candidate> candidates) const {
  const auto own = candidate_of(own_model(device), candidates);
  const auto last = drains_.way(device);
  const auto now = drains_.seen() && last ? phase_of(*last) : phase::any;
  if (own && (now != phase::forward || !off_phase(candidates[*own], now))) {
    return *own;
  }
  return best_candidate(device, candidates, [&](const candidate& a, const candidate& b) {
    const auto key = [&](const candidate& c) {
      return std::tuple{off_phase(c, now), avoidable_transfer(c), -c.remaining};
    };
    return key(a) < key(b);
  });
}

}  // namespace hydra
