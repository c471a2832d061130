#include "actors/simulation/remaining_scale.hpp"

#include "actors/simulation/solo_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace hydra {

namespace {

double compute_seconds(const instance_model& m) {
  const auto step = std::accumulate(m.forward.begin(), m.forward.end(), duration::zero()) +
                    std::accumulate(m.backward.begin(), m.backward.end(), duration::zero());
  return seconds(step) * m.steps * shape_of(m).lanes();
}

double scale_of(const instance_model& m, const solo_run& run) {
  constexpr double decimals = 1e4;
  const auto compute = compute_seconds(m) / run.speed;
  return compute > 0 ? std::max(1.0, std::round(seconds(run.wall) / compute * decimals) / decimals) : 1;
}

}  // namespace

void measure_scales(schedule_instance& instance) {
  auto pilot = instance;
  pilot.prefetch = true;
  pilot.slots = std::max(pilot.slots, 2U);
  pilot.copy_back_clean = false;
  const auto runs = run_all_alone(pilot, instance.models);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    instance.models[i].remaining_scale = scale_of(instance.models[i], runs[i]);
  }
}

}  // namespace hydra
