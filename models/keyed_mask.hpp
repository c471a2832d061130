#pragma once
// The masking of keyed dropout as an operation of LibTorch's dispatcher, so that each device type can provide a kernel.

#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>

namespace hydra {

/// A contiguous tensor of the input's shape and type: element i of the contiguous input times 1/(1-p) in fp32, rounded
/// to the type once, or +0 where mask_rule(p, key) drops it (runtime/device/kernels/keyed_random.hpp). fp32 and bf16.
/// Calls "hydra::keyed_mask(Tensor input, float p, int key) -> Tensor"; kernels for CPU and Meta are here, a device
/// plug-in registers its own. Not differentiable. Throws fault_error{internal} for other types and where there is no
/// kernel.
at::Tensor keyed_mask(const at::Tensor& input, double p, std::uint64_t key);

}  // namespace hydra
