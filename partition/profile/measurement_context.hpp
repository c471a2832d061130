#pragma once
// Where something is measured.

#include "runtime/device/work_meter.hpp"

#include <string>

namespace hydra {

/// All times and bytes are measured by the meter; all tensors are allocated on its device.
struct measurement_context {
  work_meter& meter;
  std::string torch_device = "cpu";
};

}  // namespace hydra
