#include "actors/simulation/loop_run.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>

// A device that dies: units that are undone, and what other devices hold of them.

namespace hydra {

void loop_run::on_died(std::uint32_t device) {
  auto& d = devices_[device];
  d.alive = false;
  d.staged.clear();
  d.computing.reset();
  if (std::ranges::none_of(devices_, &loop_device::alive)) {
    throw fault_error{fault_code::device_lost, instance_.name + ": all devices are lost after " + to_string(now_)};
  }
  for (const auto& loss : tracker_.device_lost(device_id{device})) {
    rewind(loss);
  }
}

/// A lane that loses only its announcement makes it again, with the new attempt.
void loop_run::rewind(const model_loss& loss) {
  auto& m = models_[loss.model.value];
  const auto at = m.chain.lane_of(loss.first);
  auto& lane = m.lanes[at];
  lane.attempt = loss.next_attempt;
  std::ranges::for_each(loss.withdraw, [this](const flight& f) { withdraw(f); });
  if (!loss.lost.empty()) {
    rewind_to_lost(lane, loss);
  }
  lane.announced = false;
  announce(loss.model.value, at);
}

void loop_run::rewind_to_lost(loop_lane& lane, const model_loss& loss) {
  const auto& chain = models_[loss.model.value].chain;
  const auto& first = loss.lost.front().what;
  const auto left = tracker_.flights_of(loss.model, chain.lane_of(first));
  lane.next = chain.position_of(first);
  lane.ended = std::min(lane.ended, lane.next);
  lane.predecessor_written_back = left.empty();
  lane.staged = 0;
  lane.output_home = now_;
  lane.written_back = left.empty() ? now_ : lane.written_back;
}

void loop_run::withdraw(const flight& f) {
  auto& d = devices_[f.device.value];
  const auto staged = std::ranges::find(d.staged, f.what, &loop_visit::what);
  if (staged != d.staged.end()) {
    d.cache.unpin(staged->slot);
    d.staged.erase(staged);
    const auto running = d.computing ? std::optional{d.computing->what} : std::nullopt;
    tracker_.device_freed(f.device, 1, running, clock());
  } else if (d.computing && d.computing->what == f.what) {
    d.cache.unpin(d.computing->slot);
    d.computing.reset();
    tracker_.device_freed(f.device, instance_.prefetch ? 0 : 1, std::nullopt, clock());
  }
}

}  // namespace hydra
