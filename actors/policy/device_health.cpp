#include "actors/policy/device_health.hpp"

#include <utility>

namespace hydra {

namespace {

unit visit_of(unit u) {
  u.attempt = 0;
  return u;
}

}  // namespace

void device_health::model_left(model_id model) {
  for (auto& [device, thrown] : throws_) {
    std::erase_if(thrown.open, [model](const auto& entry) { return entry.first.model == model; });
  }
}

void device_health::unit_threw(device_id device, const unit& u, const std::string& text) {
  if (const auto found = throws_.find(device); found != throws_.end()) {
    found->second.open.insert_or_assign(visit_of(u), text);
  }
}

std::vector<broken_device> device_health::unit_completed(device_id device, const unit& u) {
  std::vector<broken_device> broken;
  const auto here = throws_.find(device);
  if (here == throws_.end()) {
    return broken;  // the last device is never broken: another one that works has shown it
  }
  here->second = {};
  for (auto& [other, thrown] : throws_) {
    if (auto visit = thrown.open.extract(visit_of(u))) {
      thrown.models.insert(u.model);
      if (++thrown.blaming >= enough && thrown.models.size() > 1) {  // with one model alone, that may be the cause
        broken.push_back({other, std::move(visit.mapped())});
      }
    }
  }
  for (const auto& b : broken) {
    device_left(b.device);
  }
  return broken;
}

}  // namespace hydra
