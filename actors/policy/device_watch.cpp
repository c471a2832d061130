#include "actors/policy/device_watch.hpp"

#include <algorithm>
#include <cmath>

namespace hydra {

void device_watch::measured(device_id device, duration copies) {
  auto& longest = copies_[device];
  longest = std::max(longest, copies);
}

void device_watch::device_left(device_id device, time_point now) {
  if (left_.insert(device).second) {
    all_alive_ = now;
  }
}

std::optional<time_point> device_watch::next_look(std::span<const device_load> loads) {
  due_.reset();
  if (limits_.minimum <= duration::zero()) {
    return due_;
  }
  const auto longest = longest_limit(loads);
  for (const auto& load : loads) {
    if (watches(load)) {
      const auto deadline = deadline_of(load, longest);
      due_ = due_ ? std::min(*due_, deadline) : deadline;
    }
  }
  return due_;
}

std::optional<silence> device_watch::look(std::span<const device_load> loads, time_point now) {
  if (!due_) {
    return std::nullopt;
  }
  if (now - *due_ > limits_.minimum / 2) {
    all_alive_ = now;
    return std::nullopt;
  }
  const auto longest = longest_limit(loads);
  std::optional<silence> found;
  for (const auto& load : loads) {
    const auto lasted = now - quiet_since(load);
    if (watches(load) && now >= deadline_of(load, longest) && (!found || lasted > found->lasted)) {
      found = {load.device, lasted};
    }
  }
  return found;
}

duration device_watch::limit_of(const device_load& load) const {
  const auto copies = copies_.find(load.device);
  const auto expected = load.longest + (copies == copies_.end() ? duration{} : copies->second);
  return std::max(limits_.minimum, duration{std::llround(limits_.factor * static_cast<double>(expected.count()))});
}

duration device_watch::longest_limit(std::span<const device_load> loads) const {
  duration longest{};
  for (const auto& load : loads) {
    longest = std::max(longest, limit_of(load));
  }
  return longest;
}

time_point device_watch::deadline_of(const device_load& load, duration longest) const {
  return quiet_since(load) + limit_of(load) + (load.computes ? duration{} : longest);
}

/// A device without units is not expected to respond: its silence starts with its oldest unit.
time_point device_watch::quiet_since(const device_load& load) const {
  const auto sign = signs_.find(load.device);
  const auto since = std::max(load.since, sign == signs_.end() ? load.since : sign->second);
  return all_alive_ ? std::max(since, *all_alive_) : since;
}

}  // namespace hydra
