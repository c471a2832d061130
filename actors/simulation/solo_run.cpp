#include "actors/simulation/solo_run.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "actors/simulation/event_loop.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace hydra {

namespace {

schedule_instance alone(const schedule_instance& machine, const instance_model& model) {
  schedule_instance solo;
  solo.models.push_back(model);
  solo.models.front().arrival = {};
  solo.models.front().remaining_scale = 1;
  solo.devices.push_back({.speed = std::ranges::max(machine.devices, {}, &instance_device::speed).speed});
  solo.slots = machine.slots;
  solo.prefetch = machine.prefetch;
  solo.depth = machine.depth;
  solo.copy_back_clean = machine.copy_back_clean;
  solo.host_workers = machine.host_workers;
  return solo;
}

bool same_times(const instance_model& a, const instance_model& b) {
  return a.steps == b.steps && a.replicas == b.replicas && a.waves == b.waves && a.first_trained == b.first_trained &&
         a.forward == b.forward && a.backward == b.backward && a.h2d == b.h2d && a.base_h2d == b.base_h2d &&
         a.d2h_gradient == b.d2h_gradient && a.optimizer == b.optimizer && a.activation == b.activation;
}

duration spread(double weighted_ns, const schedule_instance& instance) {
  double speeds = 0;
  for (const auto& d : instance.devices) {
    speeds += d.speed;
  }
  return duration{std::llround(weighted_ns / speeds)};
}

}  // namespace

solo_run run_alone(const schedule_instance& machine, const instance_model& model) {
  const auto solo = alone(machine, model);
  const auto run = run_in_loop(solo, std::make_unique<sharded_lrtf>(), {.record_order = true});
  solo_run result{.wall = run.makespan, .turns = run.makespan - run.compute_end, .speed = solo.devices.front().speed};
  for (std::size_t u = 1; u < run.units.size(); ++u) {
    if (run.units[u].step != run.units[u - 1].step) {
      result.turns += run.units[u].begin - run.units[u - 1].end;
    }
  }
  return result;
}

std::vector<solo_run> run_all_alone(const schedule_instance& machine, std::span<const instance_model> models) {
  std::vector<solo_run> runs;
  for (const auto& m : models) {
    const auto known =
        std::ranges::find_if(models.first(runs.size()), [&](const auto& other) { return same_times(other, m); });
    const auto at = static_cast<std::size_t>(known - models.begin());
    runs.push_back(at < runs.size() ? runs[at] : run_alone(machine, m));
  }
  return runs;
}

duration yardstick::best() const { return std::max(longest, shared_without_boundaries); }

yardstick yardstick_of(const schedule_instance& instance) {
  yardstick y;
  double all = 0;
  double turns = 0;
  for (const auto& run : run_all_alone(instance, instance.models)) {
    y.longest = std::max(y.longest, run.wall);
    all += static_cast<double>(run.wall.count()) * run.speed;
    turns += static_cast<double>(run.turns.count()) * run.speed;
  }
  y.shared = spread(all, instance);
  y.shared_without_boundaries = spread(all - turns, instance);
  return y;
}

}  // namespace hydra
