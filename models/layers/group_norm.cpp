#include "models/layers/group_norm.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/group_norm_ops.h>

namespace hydra {

at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight, const at::Tensor& bias) {
  return at::_ops::group_norm::call(x, groups, weight, bias, 1e-5, true);
}

}  // namespace hydra
