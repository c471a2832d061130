#include "actors/device/device_slots.hpp"

#include <utility>

namespace hydra {

void device_slots::offer_all() {
  port_.freed(state_.options.slots_in(state_.budget.limit()), std::nullopt, {}, {});
}

void device_slots::enter(visit_record& v, visit_phase next) {
  const bool leaves = occupies_slot(v.phase()) && !occupies_slot(next);
  v.set_phase(next);
  if (leaves && v.messages.prefetch) {
    ++credits_due_;
  }
}

/// Without double buffering a slot is occupied until the device has computed.
bool device_slots::occupies_slot(visit_phase phase) const noexcept {
  return phase < (state_.options.double_buffer ? visit_phase::running : visit_phase::write_back);
}

void device_slots::report() {
  const auto running = state_.visits.running();
  const bool changed = running != running_;
  running_ = running;
  if (!changed && credits_due_ == 0) {
    return;
  }
  port_.freed(std::exchange(credits_due_, 0), running, std::exchange(newly_cached_, {}), state_.cache.take_dropped());
}

}  // namespace hydra
