#include "actors/policy/device_health.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

unit visit_of(unit u) {
  u.attempt = 0;
  return u;
}

}  // namespace

std::string without_numbers(std::string_view text) {
  std::string rest;
  std::ranges::copy_if(text, std::back_inserter(rest), [](char c) { return c < '0' || c > '9'; });
  return rest;
}

void device_health::device_left(device_id device) {
  throws_.erase(device);
  for (auto& [model, suspected] : suspected_) {
    suspected.devices.erase(device);
  }
}

void device_health::model_left(model_id model) {
  forget_open(model);
  suspected_.erase(model);
}

void device_health::unit_threw(device_id device, const unit& u, const std::string& text) {
  const auto found = throws_.find(device);
  if (found == throws_.end()) {
    return;
  }
  auto& suspected = suspected_[u.model];
  if (auto cause = without_numbers(text); cause != suspected.text) {
    suspected = {std::move(cause)};
  }
  suspected.devices.insert(device);
  if (suspected.devices.size() > 1) {
    acquit_devices(u.model);
  } else {
    found->second.open.insert_or_assign(visit_of(u), text);
  }
}

std::vector<broken_device> device_health::unit_completed(device_id device, const unit& u) {
  constexpr std::size_t enough = 2;  // with one model alone, the model may be the cause
  std::vector<broken_device> broken;
  const auto here = throws_.find(device);
  if (here == throws_.end()) {
    return broken;  // the last device is never broken: another one that works has shown it
  }
  here->second = {};
  for (auto& [other, thrown] : throws_) {
    if (auto visit = thrown.open.extract(visit_of(u))) {
      thrown.blaming.insert(u.model);
      if (thrown.blaming.size() >= enough) {
        broken.push_back({other, std::move(visit.mapped())});
      }
    }
  }
  for (const auto& b : broken) {
    device_left(b.device);
  }
  return broken;
}

/// Its throws are no evidence against any device.
void device_health::acquit_devices(model_id model) {
  forget_open(model);
  for (auto& [device, thrown] : throws_) {
    thrown.blaming.erase(model);
  }
}

void device_health::forget_open(model_id model) {
  for (auto& [device, thrown] : throws_) {
    std::erase_if(thrown.open, [model](const auto& entry) { return entry.first.model == model; });
  }
}

}  // namespace hydra
