#include "models/layers/encoder_attention.hpp"

#include "models/layers/attention.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/scaled_dot_product_attention_ops.h>

#include <limits>
#include <optional>

namespace hydra {
namespace {

at::Tensor fused_attention(const attention_heads& heads, const at::Tensor& bias) {
  const std::optional<at::Tensor> mask = bias.defined() ? std::optional{bias} : std::nullopt;
  return at::_ops::scaled_dot_product_attention::call(heads.queries, heads.keys, heads.values, mask, 0.0,
                                                      /*is_causal=*/false, {}, false);
}

}  // namespace

at::Tensor key_bias(const at::Tensor& mask) {
  // Finite in the mask's own format: a text of padding only gives no NaN.
  const float lowest = mask.scalar_type() == at::kBFloat16
                           ? static_cast<float>(std::numeric_limits<c10::BFloat16>::lowest())
                           : std::numeric_limits<float>::lowest();
  return mask.detach().sub(1).mul(-lowest).unsqueeze(1).unsqueeze(1);
}

at::Tensor encoder_attention(const attention_projections& projections, const at::Tensor& bias,
                             const encoder_attention_options& options, const layer_context& context) {
  const auto split = [&](const at::Tensor& t) { return split_heads(t, options.heads); };
  const attention_heads heads{split(projections.query), split(projections.key), split(projections.value)};
  return join_heads(options.dropout > 0 ? explicit_attention(heads, bias, options.dropout, context, options.site)
                                        : fused_attention(heads, bias));
}

}  // namespace hydra
