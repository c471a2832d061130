#pragma once
// The norms that blocks, heads and stems share, all without statistics of their own.

#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>

namespace hydra {

/// Over the last dimension. `eps` is added to the variance; its default is GPT-2's (and torch's).
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps = 1e-5);

/// By the root mean square of the last dimension (Zhang & Sennrich 2019): x / sqrt(mean(x^2) + eps) * weight, or
/// * (1 + weight) with `offset`; weight [last dimension of x].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, bool offset = false);

/// Over channels and pixels: x [samples, channels, ...]; `groups` divide the channels; eps 1e-5, torch's default.
at::Tensor group_norm(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace hydra
