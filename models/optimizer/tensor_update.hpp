#pragma once
// A step of an update rule on tensors of a device, as an operation of LibTorch's dispatcher, so that each device type
// can provide a kernel.

#include "runtime/device/kernels/update_math.hpp"

#include <ATen/core/Tensor.h>

namespace hydra {

/// Contiguous tensors of equal length on one device, fp32 except the copy; moments that the rule does not have, and a
/// copy that is not wanted, are undefined.
struct update_tensors {
  at::Tensor parameters;
  at::Tensor gradients;
  at::Tensor first_moment{};
  at::Tensor second_moment{};
  at::Tensor copy{};   ///< bf16, of the new parameters
};

/// In place, with the same bits as apply_update (models/optimizer/update_rule.hpp) on the host. Calls "hydra::update_";
/// the kernel for the CPU is here, a device plug-in registers its own. Throws fault_error{internal} if there is no
/// kernel, or if lengths or types do not fit.
void apply_update(const update_constants& constants, const update_tensors& tensors);

}  // namespace hydra
