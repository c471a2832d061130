#pragma once
// Layer norm over the last dimension, shared by block and head.

#include "runtime/base/tensor_fwd.hpp"

namespace hydra {

/// `eps` is added to the variance; its default is GPT-2's (and torch's).
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps = 1e-5);

}  // namespace hydra
