#pragma once
// Gradient norms and the clip coefficient, in fp32 as torch does (numerics contract, rule 8).

#include <span>

namespace hydra {

/// L2 norm of one whole parameter's gradient with ATen's kernel. Call with one intra-op thread.
float gradient_norm(std::span<const float> gradient);

/// Norm of the norms, in chain order.
float total_norm(std::span<const float> norms);

/// clamp_max(max_norm / (norm + 1e-6f), 1) in fp32, dividing as torch does: reciprocal, then product.
float clip_coefficient(float max_norm, float norm) noexcept;

}  // namespace hydra
