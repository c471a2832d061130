#pragma once
// Layer norm over the last dimension, shared by blocks and heads.

#include <ATen/core/Tensor.h>

namespace hydra {

/// eps is that of GPT-2 (and torch's default); BERT has 1e-12.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps = 1e-5);

}  // namespace hydra
