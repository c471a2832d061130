#include "actors/policy/drains.hpp"

#include <algorithm>
#include <cmath>

namespace hydra {

/// The unit that was placed last is not what computes while some are staged.
void drains::look(const device_state& device, const policy_view&) {
  const auto found = last_.find(device.device);
  if (found == last_.end() || found->second.begun || device.idle || device.staged > duration{} ||
      device.running != found->second.what.next.model) {
    return;
  }
  auto& v = found->second;
  v.begun = true;
  const auto cost = static_cast<double>(v.what.cost.count()) / device.speed;
  const auto begin = device.free_at - duration{std::llround(cost)};
  learn(v, std::max(duration{}, begin - v.expected));
}

/// Only if the computing unit was too short to hide much more than the load.
void drains::learn(const visit& v, duration late) {
  const bool tells = !v.behind && v.place == direction::backward && !v.what.hit && v.what.transfer_time > duration{} &&
                     v.until_free > duration{} && v.until_free <= 2 * v.what.transfer_time;
  if (!tells) {
    return;
  }
  constexpr double keep = 0.98;
  waited_ = keep * waited_ + static_cast<double>(std::min(late, 2 * v.what.transfer_time).count());
  loaded_ = keep * loaded_ + static_cast<double>(v.what.transfer_time.count());
}

void drains::placed(const device_state& device, const candidate& c, const policy_view& view) {
  const auto until = view.until_free(device);
  visit v{.what = c, .before = {}, .place = {}, .until_free = until, .behind = device.staged > duration{},
          .expected = view.now + std::max(until, c.transfer_time), .begun = false};
  if (const auto found = last_.find(device.device); found != last_.end()) {
    v.before = found->second.what.next.way;
    v.place = found->second.before;
  }
  last_[device.device] = v;
}

bool drains::seen() const noexcept {
  constexpr double share = 0.25;
  return loaded_ > 0 && waited_ > share * loaded_;
}

std::optional<direction> drains::way(const device_state& device) const {
  const auto found = last_.find(device.device);
  return found == last_.end() ? std::nullopt : std::optional{found->second.what.next.way};
}

}  // namespace hydra
