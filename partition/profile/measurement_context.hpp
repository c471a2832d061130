#pragma once
// Where something is measured.

#include "runtime/device/work_meter.hpp"

#include <string>

namespace hydra {

/// All times and bytes are the meter's, all tensors are made on its device.
struct measurement_context {
  work_meter& meter;
  std::string torch_device = "cpu";
};

}  // namespace hydra
