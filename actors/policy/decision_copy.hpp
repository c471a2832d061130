#pragma once
// A copy of the arguments of a decision, for policies that decide later or on another thread. Standard library only.

#include "actors/policy/policy.hpp"

#include <span>
#include <vector>

namespace hydra {

struct decision_copy {
  device_state device;
  std::vector<candidate> candidates;
  std::vector<device_state> devices;
  std::vector<model_state> models;
  time_point now{};

  /// Valid as long as this object.
  policy_view view() const { return {.now = now, .devices = devices, .models = models}; }
};

inline decision_copy copy_of(const device_state& device, std::span<const candidate> candidates,
                             const policy_view& view) {
  return {.device = device,
          .candidates = {candidates.begin(), candidates.end()},
          .devices = {view.devices.begin(), view.devices.end()},
          .models = {view.models.begin(), view.models.end()},
          .now = view.now};
}

}  // namespace hydra
