#include "models/layers/layer_norm.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/layer_norm_ops.h>

namespace hydra {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  return at::_ops::layer_norm::call(x, weight.sym_sizes(), weight, bias, eps, true);
}

}  // namespace hydra
