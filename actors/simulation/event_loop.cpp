#include "actors/simulation/event_loop.hpp"

#include "actors/simulation/loop_run.hpp"

#include <cmath>

namespace hydra {

simulated_run run_in_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen,
                          const loop_options& options) {
  validate(instance);
  return loop_run{instance, std::move(chosen), options}.run();
}

namespace {

/// `weight` of each model.
template <class Weight>
duration mean_of(const schedule_instance& instance, const simulated_run& run, const Weight& weight) {
  double sum = 0;
  double weights = 0;
  for (std::size_t m = 0; m < instance.models.size(); ++m) {
    const auto w = weight(instance.models[m]);
    sum += w * static_cast<double>((run.finished[m] - instance.models[m].arrival).count());
    weights += w;
  }
  return duration{std::llround(sum / weights)};
}

}  // namespace

duration mean_completion(const schedule_instance& instance, const simulated_run& run) {
  return mean_of(instance, run, [](const instance_model&) { return 1.0; });
}

duration weighted_completion(const schedule_instance& instance, const simulated_run& run) {
  return mean_of(instance, run, [](const instance_model& m) { return m.priority; });
}

}  // namespace hydra
