#include "actors/policy/residency.hpp"

#include <algorithm>

namespace hydra {

void residency::report(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped) {
  for (const auto& block : dropped) {
    remove(device, block);
  }
  for (const auto& block : cached) {
    add(device, block);
  }
}

void residency::forget(device_id device) {
  for (auto& [block, devices] : holders_) {
    std::erase(devices, device);
  }
  std::erase_if(holders_, [](const auto& entry) { return entry.second.empty(); });
}

std::span<const device_id> residency::holders(const block_id& parameters) const {
  const auto found = holders_.find(parameters);
  return found == holders_.end() ? std::span<const device_id>{} : found->second;
}

void residency::add(device_id device, const block_id& block) {
  if (block.kind != block_kind::parameters) {
    return;
  }
  auto& devices = holders_[block];
  if (std::ranges::find(devices, device) == devices.end()) {
    devices.push_back(device);
  }
}

void residency::remove(device_id device, const block_id& block) {
  const auto found = holders_.find(block);
  if (found == holders_.end()) {
    return;
  }
  std::erase(found->second, device);
  if (found->second.empty()) {
    holders_.erase(found);
  }
}

}  // namespace hydra
