#pragma once
// Attention of encoders: each token attends to all tokens of its sample that are not padding.

#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

namespace hydra {

struct encoder_attention_options {
  std::int64_t heads = 1;  ///< divide the width
  double dropout = 0;      ///< of the attention's probabilities
  std::uint32_t site = 0;  ///< of that dropout within its layer
};

/// All f32[samples, tokens, width].
struct attention_projections {
  at::Tensor query, key, value;
};

/// f32[samples, tokens], 1 for a token and 0 for padding -> f32[samples, 1, 1, tokens] to be added to the scores of the
/// keys, without gradient: zero, or the lowest number, whose exponential is exactly zero. Finite, so that a sample of
/// padding only gives numbers.
at::Tensor key_bias(const at::Tensor& mask);

/// f32[samples, tokens, width]. `bias` as from key_bias(), or undefined: every key is attended to. With dropout the
/// matrix of probabilities is explicit, in evaluation too, so that a layer's memory does not depend on whether it is
/// trained; without dropout it is never materialised (scaled_dot_product_attention).
at::Tensor encoder_attention(const attention_projections& projections, const at::Tensor& bias,
                             const encoder_attention_options& options, const layer_context& context);

/// Throws fault_error{bad_input} unless `heads` is positive and divides `width`. `who` names the layer or family.
void require_heads(std::string_view who, std::int64_t heads, std::int64_t width);

}  // namespace hydra
