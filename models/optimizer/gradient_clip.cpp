#include "models/optimizer/gradient_clip.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm_ops.h>

#include <algorithm>

namespace hydra {
namespace {

/// A view, not a copy; the kernel only reads.
float l2_norm(std::span<const float> values) {
  const at::Tensor view = at::from_blob(const_cast<float*>(values.data()), {static_cast<std::int64_t>(values.size())});
  return at::_ops::linalg_vector_norm::call(view, 2, {}, false, {}).const_data_ptr<float>()[0];
}

}  // namespace

float gradient_norm(std::span<const float> gradient) { return l2_norm(gradient); }

float total_norm(std::span<const float> norms) { return l2_norm(norms); }

/// torch divides a number by a tensor as reciprocal times number, which differs from a division by up to 1 ulp. A NaN
/// norm stays NaN: std::min then returns its first argument.
float clip_coefficient(float max_norm, float norm) noexcept { return std::min(1.0f / (norm + 1e-6f) * max_norm, 1.0f); }

}  // namespace hydra
