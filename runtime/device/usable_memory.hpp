#pragma once
// What blocks may use of a device's memory.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// `device` has `memory` and `reserve`, as device_info and plan_device.
template <class Device>
byte_count usable_memory(const Device& device) {
  return device.memory > device.reserve ? device.memory - device.reserve : byte_count{};
}

}  // namespace hydra
