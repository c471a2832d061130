#pragma once
// Group norm over channels and pixels, shared by stem and residual block.

#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>

namespace hydra {

/// x [samples, channels, ...]; `groups` divide the channels; eps 1e-5, torch's default.
at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hydra
