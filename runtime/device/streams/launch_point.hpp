#pragma once
// A position in the order of launched work.

#include "runtime/device/device.hpp"
#include "runtime/device/ticket.hpp"

namespace hydra {

/// This operation on this queue.
struct launch_point {
  queue_kind queue = queue_kind::compute;
  ticket operation;
  friend bool operator==(const launch_point&, const launch_point&) = default;
};

}  // namespace hydra
