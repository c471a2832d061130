#include "models/layers/norms.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/group_norm_ops.h>
#include <ATen/ops/layer_norm_ops.h>
#include <ATen/ops/rms_norm_ops.h>

namespace hydra {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  return at::_ops::layer_norm::call(x, weight.sym_sizes(), weight, bias, eps, true);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, bool offset) {
  if (!offset) return at::_ops::rms_norm::call(x, weight.sym_sizes(), weight, eps);
  const at::Tensor normed = at::_ops::rms_norm::call(x, weight.sym_sizes(), {}, eps);
  return normed.addcmul(normed, weight);  // 1 + weight would lose most of a small weight in bf16
}

at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight, const at::Tensor& bias) {
  return at::_ops::group_norm::call(x, groups, weight, bias, 1e-5, true);
}

}  // namespace hydra
