#pragma once
// A place in the order of work that is launched.

#include "runtime/device/device.hpp"
#include "runtime/device/ticket.hpp"

namespace hydra {

/// This operation of this queue.
struct launch_point {
  queue_kind queue = queue_kind::compute;
  ticket operation;
  friend bool operator==(const launch_point&, const launch_point&) = default;
};

}  // namespace hydra
