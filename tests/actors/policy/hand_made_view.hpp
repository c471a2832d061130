#pragma once
// The view of a policy, made by hand.

#include "actors/policy/policy.hpp"
#include "tests/actors/policy/units.hpp"

#include <optional>
#include <vector>

namespace hydra::test {

inline duration us(int n) { return std::chrono::microseconds{n}; }

/// A view made by hand: equal idle devices, models of 1000 us with units of 1 us.
struct world {
  explicit world(std::size_t devices_of_speed_1, std::size_t models_of_1000 = 0) {
    for (std::uint32_t d = 0; d < devices_of_speed_1; ++d) {
      device(1);
    }
    for (std::size_t m = 0; m < models_of_1000; ++m) {
      model(1000);
    }
  }

  device_state& device(double speed) {
    device_state d;
    d.device = device_id{static_cast<std::uint32_t>(devices.size())};
    d.speed = speed;
    d.idle = false;  // asked while it computes, for no longer
    d.free_at = now;
    devices.push_back(d);
    return devices.back();
  }

  void model(int remaining) {
    model_state m;
    m.model = model_id{static_cast<std::uint32_t>(models.size())};
    m.remaining = us(remaining);
    m.next_cost = us(1);
    models.push_back(m);
  }

  candidate& offer(const unit& u) {
    candidate c;
    c.next = u;
    c.model_at = u.model.value;
    c.remaining = models.at(u.model.value).remaining;
    c.cost = us(1);
    candidates.push_back(c);
    return candidates.back();
  }

  policy_view view() const { return {.now = now, .devices = devices, .models = models}; }

  std::optional<std::uint32_t> chosen(policy& p, std::size_t device = 0) const {
    const auto i = p.choose(devices.at(device), candidates, view());
    return i ? std::optional{candidates[*i].next.model.value} : std::nullopt;
  }

  std::vector<device_state> devices;
  std::vector<model_state> models;
  std::vector<candidate> candidates;
  time_point now = at(0);
};

}  // namespace hydra::test
