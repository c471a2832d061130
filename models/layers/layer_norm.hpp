#pragma once
// Layer norm over the last dimension, shared by block and head.

#include <ATen/core/Tensor.h>

namespace hydra {

/// eps 1e-5 as in GPT-2 (and torch's default).
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hydra
