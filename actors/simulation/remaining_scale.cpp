#include "actors/simulation/remaining_scale.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "actors/simulation/event_loop.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace hydra {

namespace {

/// Without noise, arrival and failure.
schedule_instance alone(const schedule_instance& instance, std::size_t model) {
  schedule_instance solo;
  solo.models.push_back(instance.models[model]);
  solo.devices.push_back({.speed = std::ranges::max(instance.devices, {}, &instance_device::speed).speed});
  solo.models.front().arrival = {};
  solo.models.front().remaining_scale = 1;
  solo.slots = instance.slots;
  solo.host_workers = instance.host_workers;
  return solo;
}

double compute_seconds(const instance_model& m) {
  const auto step = std::accumulate(m.forward.begin(), m.forward.end(), duration::zero()) +
                    std::accumulate(m.backward.begin(), m.backward.end(), duration::zero());
  return seconds(step) * m.steps;
}

bool same_times(const instance_model& a, const instance_model& b) {
  return a.steps == b.steps && a.forward == b.forward && a.backward == b.backward && a.h2d == b.h2d &&
         a.d2h_gradient == b.d2h_gradient && a.optimizer == b.optimizer && a.activation == b.activation;
}

}  // namespace

double measured_scale(const schedule_instance& instance, std::size_t model) {
  const auto solo = alone(instance, model);
  const auto compute = compute_seconds(solo.models.front()) / solo.devices.front().speed;
  if (compute <= 0) {
    return 1;
  }
  const auto wall = seconds(run_in_loop(solo, std::make_unique<sharded_lrtf>()).makespan);
  constexpr double decimals = 1e4;
  return std::max(1.0, std::round(wall / compute * decimals) / decimals);
}

void measure_scales(schedule_instance& instance) {
  auto& models = instance.models;
  for (auto m = models.begin(); m != models.end(); ++m) {
    const auto known = std::find_if(models.begin(), m, [&](const instance_model& other) { return same_times(other, *m); });
    m->remaining_scale =
        known != m ? known->remaining_scale : measured_scale(instance, static_cast<std::size_t>(m - models.begin()));
  }
}

}  // namespace hydra
