#include "actors/policy/stay_pace.hpp"

#include "actors/policy/longest_first.hpp"
#include "actors/policy/step_boundary.hpp"

#include <algorithm>
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
  times_.look(candidates, view);
  const bool several = shared_ || several_lanes::in(view);
  if (device.staged > duration{} && (several || !equal_speeds(view))) {
    return std::nullopt;
  }
  if (several && equal_speeds(view)) {
    return lanes_.choose(device, candidates, view);
  }
  early_ = early_ || !device.idle || device.staged > duration{};
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
  const auto least = margin(longest_unit(view));
  if (device.staged > duration{}) {
    return behind(device, candidates, least, view);
  }
  const auto longest = longest_first(device, candidates);
  const bool critical = laxity(device, candidates[longest].remaining, view) <= least;
  return critical ? longest : relaxed(device, candidates);
}

bool stay_pace::any_critical(const device_state& device, double margin, const policy_view& view, int pace) const {
  return std::ranges::any_of(view.models, [&](const model_state& m) {
    return laxity(device, pace * (m.remaining + m.staged), view) <= margin;
  });
}

std::optional<std::size_t> stay_pace::behind(const device_state& device, std::span<const candidate> candidates,
                                             double margin, const policy_view& view) {
  const auto times_of = [&](std::size_t i) { return times_.of(candidates[i].next.model); };
  std::optional<std::size_t> next;
  if (any_critical(device, margin, view)) {
    next = following(device, candidates, margin, view);
  } else {
    const auto other = in_turn(device, candidates);
    const bool two_at_a_time = !times_of(other).loads_longest() && !any_critical(device, margin, view, 2);
    if (two_at_a_time) {
      next = other;
    } else if (!goes_on(device, view)) {
      next = relaxed(device, candidates);
    }
  }
  return next && times_of(*next).loads_slowly() ? next : std::nullopt;
}

/// A backward visit behind a forward visit, which is too short to hide the next load, and a forward visit behind a
/// backward visit: of two models, each at half of its pace.
std::size_t stay_pace::in_turn(const device_state& device, std::span<const candidate> candidates) const {
  const auto last = drains_.way(device);
  const auto key = [&](const candidate& c) {
    return std::tuple{last && phase_of(c.next.way) == phase_of(*last), !c.chained, -c.remaining};
  };
  return best_candidate(device, candidates, [&](const candidate& a, const candidate& b) { return key(a) < key(b); });
}

/// The unit that follows those of the device's own model is announced at once, as a rule; it may have to wait for its
/// version, its data or a callback.
bool stay_pace::goes_on(const device_state& device, const policy_view& view) {
  const auto* own = own_model(device, view);
  const bool expected = own != nullptr && own->staged_units > 0 && !own->candidate && !own->at_step_boundary &&
                        own->next_cost > duration{};
  if (!expected) {
    return false;
  }
  auto& next = expected_[device.device];
  if (next.model != own->model || next.remaining != own->remaining) {
    next = {own->model, own->remaining, view.now};
  }
  constexpr int part = 16;
  return view.now - next.since <= own->next_cost / part;
}

/// What follows the units that are staged, unless a longer critical candidate would wait for it.
std::optional<std::size_t> stay_pace::following(const device_state& device, std::span<const candidate> candidates,
                                                double margin, const policy_view& view) const {
  const auto own = candidate_of(device.last, candidates);
  if (!own || !candidates[*own].chained) {
    return std::nullopt;
  }
  const auto& mine = candidates[*own];
  const auto is_critical = [&](const candidate& c) { return laxity(device, c.remaining, view) <= margin; };
  const bool waits = std::ranges::any_of(candidates, [&](const candidate& c) {
    return !c.chained && c.remaining > mine.remaining && is_critical(c);
  });
  return waits && !is_critical(mine) ? std::nullopt : own;
}

double stay_pace::laxity(const device_state& device, duration remaining, const policy_view& view) const {
  return end_ - left_.until_free(device, view) - static_cast<double>(remaining.count()) / left_.fastest();
}

double stay_pace::margin(duration unit) const {
  return options_.margin.units * static_cast<double>(unit.count()) + options_.margin.share * end_;
}

bool stay_pace::holds(const device_state& device, const policy_view& view) {
  // Not for a model that has units to spare, as a critical one may: the device would do nothing meanwhile.
  const auto critical = [&](const model_state& m) {
    return laxity(device, m.remaining, view) <= options_.margin.share * end_;
  };
  const auto lasts = [&](const model_state& m) {
    return patience_.lasts(device, m, view.now, margin(m.next_cost));
  };
  if (!equal_speeds(view)) {
    const auto* own = model_at_step_boundary(device, view);
    return own != nullptr && critical(*own) && lasts(*own);
  }
  const bool free_first = is_free_first(device, view);
  bool waits = false;
  for (const auto& m : view.models) {
    const bool here = waits_at_step_boundary(m) && (free_first || m.running) && critical(m) &&
                      device_after_boundary(m, view) == device.device;
    waits = (here && lasts(m)) || waits;  // for all of them at the same time
  }
  return waits;
}

std::size_t stay_pace::relaxed(const device_state& device, std::span<const candidate> candidates) const {
  const auto own = candidate_of(device.last, candidates);
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
