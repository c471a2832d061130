#include "actors/simulation/event_loop.hpp"

#include "actors/simulation/loop_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hydra {

simulated_run run_in_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen,
                          const loop_options& options) {
  validate(instance);
  return loop_run{instance, std::move(chosen), options}.run();
}

expense expense_of(const schedule_instance& instance, const simulated_run& run) {
  run_terms terms;
  std::ranges::transform(instance.devices, std::back_inserter(terms.devices), &instance_device::terms);
  return expenses_of(run.work, terms).all;
}

simulated_completions completions_of(const schedule_instance& instance, const simulated_run& run) {
  simulated_completions c;
  double sum = 0;
  double weighted = 0;
  double weights = 0;
  double late = 0;
  for (std::size_t m = 0; m < instance.models.size(); ++m) {
    const auto& model = instance.models[m];
    const auto took = static_cast<double>((run.finished[m] - model.arrival).count());
    sum += took;
    weighted += model.priority * took;
    weights += model.priority;
    if (model.deadline) {
      ++c.deadlines;
      c.missed += run.finished[m] > *model.deadline ? 1 : 0;
      late += static_cast<double>(std::max(run.finished[m] - *model.deadline, duration{}).count());
    }
  }
  c.mean = duration{std::llround(sum / static_cast<double>(instance.models.size()))};
  c.weighted = duration{std::llround(weighted / weights)};
  c.tardiness = duration{c.deadlines > 0 ? std::llround(late / static_cast<double>(c.deadlines)) : 0};
  return c;
}

}  // namespace hydra
