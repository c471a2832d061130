#pragma once
// Attention of encoders: each token attends to all tokens of its sample that are not padding.

#include "models/layer.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/weight_and_bias.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

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

/// Throws fault_error{bad_input} for options that no encoder's block has. `who` names the layer or family.
template <class Options>
void require_encoder_options(std::string_view who, const Options& o) {
  require_positive(fmt::format("{}: width", who), o.width);
  require_positive(fmt::format("{}: hidden", who), o.hidden);
  require_heads(who, o.heads, o.width);
  require_dropout(fmt::format("{}: dropout", who), o.dropout);
  require_dropout(fmt::format("{}: attention dropout", who), o.attention_dropout);
  require_eps(fmt::format("{}: eps", who), o.eps);
}

}  // namespace hydra
