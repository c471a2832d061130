#pragma once
// Bytes on a device, shared by the cache and the operations in flight.

#include "runtime/device/device_block_ptr.hpp"

#include <ATen/core/Tensor.h>

namespace hydra {

/// Holder of a tensor that an operation will create later: the cache owns the holder, a copy or computation fills it
/// on a queue thread, later operations read it. Tickets order the accesses; the actor never looks inside. The tensor's
/// memory returns to the device with the last holder.
struct device_block {
  at::Tensor tensor;
};

}  // namespace hydra
