#include "actors/model/resumed_position.hpp"

#include <algorithm>

namespace hydra {

std::vector<unit_position> first_units(const model_standing& saved, const cursor& units) {
  const bool evaluated = saved.history.evaluated_after(saved.next.step);
  std::vector<unit_position> first;
  for (std::uint32_t lane = 0; lane < units.lanes(); ++lane) {
    const auto done = saved.next.done(lane);
    first.push_back(done < units.graph().lane(lane).size()
                        ? units.position_in(saved.next.step, done, evaluated, lane)
                        : units.begin_of(saved.next.step + 1, lane));
  }
  return first;
}

resumed_position position_of(const model_standing& saved, const cursor& units, bool observed) {
  resumed_position p;
  p.reported = static_cast<std::uint32_t>(saved.history.losses.size());
  p.first = first_units(saved, units);
  if (saved.stopped) {
    return p;
  }
  const auto step = saved.next.step;
  const bool begins = std::ranges::all_of(p.first, [&](const unit_position& u) { return units.first_of_step(u); });
  p.observe_again = observed && p.reported == step && p.reported > 0 && begins;
  if (saved.next.begins_step() && saved.history.evaluated_after(step) && !units.at_end(p.first.front())) {
    p.evaluation = step;
  }
  return p;
}

}  // namespace hydra
