#include "actors/model/resumed_position.hpp"

namespace hydra {

resumed_position position_of(const model_standing& saved, const cursor& units, bool observed) {
  resumed_position p;
  p.reported = static_cast<std::uint32_t>(saved.history.losses.size());
  const bool evaluated = saved.history.evaluated_after(saved.step);
  p.first = units.position_in(saved.step, saved.unit, evaluated);
  if (saved.stopped) {
    return p;
  }
  p.observe_again = observed && p.reported == saved.step && p.reported > 0 && p.first.index == 0;
  if (saved.unit == 0 && evaluated && !units.at_end(p.first)) {
    p.evaluation = saved.step;
  }
  return p;
}

}  // namespace hydra
