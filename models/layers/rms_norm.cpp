#include "models/layers/rms_norm.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/rms_norm_ops.h>

namespace hydra {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::_ops::rms_norm::call(x, weight.sym_sizes(), weight, eps);
}

}  // namespace hydra
