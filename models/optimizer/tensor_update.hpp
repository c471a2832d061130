#pragma once
// A step of an update rule on tensors of a device, as an operation of LibTorch's dispatcher, so that every device type can
// bring a kernel.

#include "runtime/device/kernels/update_math.hpp"

#include <ATen/core/Tensor.h>

namespace hydra {

/// Contiguous tensors of equal length on one device, fp32 but the copy; moments that the rule has not, and a copy that is
/// not wanted, are undefined.
struct update_tensors {
  at::Tensor parameters;
  at::Tensor gradients;
  at::Tensor first_moment{};
  at::Tensor second_moment{};
  at::Tensor copy{};   ///< bf16, of the new parameters
};

/// In place, with the bits that apply_update (models/optimizer/update_rule.hpp) gives at home. Calls "hydra::update_"; the kernel for
/// the CPU is here, a device plug-in registers its own. Throws fault_error{internal} where there is none, or if
/// lengths or types do not fit.
void apply_update(const update_constants& constants, const update_tensors& tensors);

}  // namespace hydra
