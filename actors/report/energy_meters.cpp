#include "actors/report/energy_meters.hpp"

#include "runtime/device/device.hpp"
#include "runtime/device/host_energy.hpp"

#include <algorithm>

namespace hydra {

energy_meters::energy_meters(const std::vector<const device*>& devices, host_energy* host)
    : devices_(devices), host_meter_(host) {
  for (const auto* d : devices_) {
    const auto now = d->energy();
    meters_.push_back({now, now});
  }
  if (host_meter_) {
    host_.first = host_.last = host_meter_->read();
  }
}

bool energy_meters::any() const {
  return host_.first || std::ranges::any_of(meters_, [](const meter& m) { return m.first.has_value(); });
}

void energy_meters::read() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (const auto now = devices_[i]->energy()) {
      meters_[i].last = now;
    }
  }
  if (const auto now = host_meter_ ? host_meter_->read() : std::nullopt) {
    host_.last = now;
  }
}

std::optional<energy_reading> energy_meters::since(const meter& m) {
  return m.first ? std::optional(energy_reading{m.last->joules - m.first->joules, m.last->meter}) : std::nullopt;
}

std::optional<energy_reading> energy_meters::of_device(std::size_t i) const { return since(meters_[i]); }
std::optional<energy_reading> energy_meters::of_host() const { return since(host_); }

}  // namespace hydra
