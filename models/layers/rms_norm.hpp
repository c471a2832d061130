#pragma once
// Root-mean-square norm over the last dimension (Zhang & Sennrich 2019), shared by the blocks and heads of decoders.

#include "runtime/base/tensor_fwd.hpp"

namespace hydra {

/// x / sqrt(mean(x^2) + eps) * weight, or * (1 + weight) with `offset`; weight [last dimension of x].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, bool offset = false);

}  // namespace hydra
