#include "actors/model/resumed_position.hpp"

#include <algorithm>

namespace hydra {

std::vector<unit_position> first_units(const model_standing& saved, const std::vector<cursor>& lanes) {
  const bool evaluated = saved.history.evaluated_after(saved.next.step);
  std::vector<unit_position> first;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto done = saved.next.done(i);
    first.push_back(done < lanes[i].units_per_step() ? lanes[i].position_in(saved.next.step, done, evaluated)
                                                     : unit_position{saved.next.step + 1, 0});
  }
  return first;
}

resumed_position position_of(const model_standing& saved, const std::vector<cursor>& lanes, bool observed) {
  resumed_position p;
  p.reported = static_cast<std::uint32_t>(saved.history.losses.size());
  p.first = first_units(saved, lanes);
  if (saved.stopped) {
    return p;
  }
  const auto step = saved.next.step;
  const bool begins = std::ranges::all_of(p.first, [](const unit_position& u) { return u.index == 0; });
  p.observe_again = observed && p.reported == step && p.reported > 0 && begins;
  if (saved.next.begins_step() && saved.history.evaluated_after(step) && !lanes.front().at_end(p.first.front())) {
    p.evaluation = step;
  }
  return p;
}

}  // namespace hydra
