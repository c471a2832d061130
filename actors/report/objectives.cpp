#include "actors/report/objectives.hpp"

namespace hydra {

namespace {

/// Completed by an earlier run: the time is not known here.
bool was_complete(const model_report& m) {
  const bool complete = m.status == model_status::finished || m.status == model_status::stopped;
  return complete && m.steps > 0 && m.steps_before == m.steps;
}

}  // namespace

objectives objectives_of(std::span<const model_report> models) {
  objectives o;
  double sum = 0, weighted = 0, weights = 0;
  std::size_t complete = 0;
  for (const auto& m : models) {
    if (!m.completed) {
      o.left_out += was_complete(m) ? 0 : 1;
      continue;
    }
    const auto took = seconds(*m.completed - m.arrival);
    ++complete;
    sum += took;
    weighted += m.priority * took;
    weights += m.priority;
    o.deadlines += m.deadline ? 1 : 0;
    o.missed_deadlines += m.deadline && *m.completed > *m.deadline ? 1 : 0;
  }
  if (complete > 0) {
    o.mean_completion = from_seconds(sum / static_cast<double>(complete));
    o.weighted_completion = from_seconds(weighted / weights);
  }
  return o;
}

}  // namespace hydra
