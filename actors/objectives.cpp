#include "actors/objectives.hpp"

namespace hydra {

objectives objectives_of(std::span<const model_report> models) {
  objectives o;
  double sum = 0, weighted = 0, weights = 0;
  std::size_t complete = 0;
  for (const auto& m : models) {
    if (!m.completed) {
      ++o.left_out;
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
