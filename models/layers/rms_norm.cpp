#include "models/layers/rms_norm.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/rms_norm_ops.h>

namespace hydra {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, bool offset) {
  if (!offset) return at::_ops::rms_norm::call(x, weight.sym_sizes(), weight, eps);
  const at::Tensor normed = at::_ops::rms_norm::call(x, weight.sym_sizes(), {}, eps);
  return normed.addcmul(normed, weight);  // 1 + weight would lose most of a small weight in bf16
}

}  // namespace hydra
