#include "models/layers/encoder_attention.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "runtime/fault.hpp"

#include <ATen/ops/scaled_dot_product_attention_ops.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace hydra {
namespace {

/// softmax(Q K^T / sqrt(width of a head) + bias) V, with dropout between.
at::Tensor explicit_attention(const attention_projections& heads, const at::Tensor& bias,
                              const encoder_attention_options& options, const layer_context& context) {
  const double scale = 1 / std::sqrt(static_cast<double>(heads.query.size(-1)));
  at::Tensor scores = heads.query.matmul(heads.key.transpose(2, 3)).mul(scale);
  if (bias.defined()) scores = scores.add(bias);
  return keyed_dropout(scores.softmax(-1), options.dropout, context, options.site).matmul(heads.value);
}

at::Tensor fused_attention(const attention_projections& heads, const at::Tensor& bias) {
  const std::optional<at::Tensor> mask = bias.defined() ? std::optional{bias} : std::nullopt;
  return at::_ops::scaled_dot_product_attention::call(heads.query, heads.key, heads.value, mask, 0.0,
                                                      /*is_causal=*/false, {}, false);
}

}  // namespace

at::Tensor key_bias(const at::Tensor& mask) {
  constexpr double lowest = std::numeric_limits<float>::lowest();
  return mask.detach().sub(1).mul(-lowest).unsqueeze(1).unsqueeze(1);
}

at::Tensor encoder_attention(const attention_projections& projections, const at::Tensor& bias,
                             const encoder_attention_options& options, const layer_context& context) {
  const std::int64_t samples = projections.query.size(0), tokens = projections.query.size(1);
  const auto split = [&](const at::Tensor& t) {
    return t.view({samples, tokens, options.heads, t.size(2) / options.heads}).transpose(1, 2);
  };
  const attention_projections heads{split(projections.query), split(projections.key), split(projections.value)};
  const at::Tensor mixed =
      options.dropout > 0 ? explicit_attention(heads, bias, options, context) : fused_attention(heads, bias);
  return mixed.transpose(1, 2).reshape({samples, tokens, projections.query.size(2)});
}

void require_heads(std::string_view who, std::int64_t heads, std::int64_t width) {
  require_positive(fmt::format("{}: heads", who), heads);
  if (width % heads != 0)
    throw fault_error{fault_code::bad_input, fmt::format("{}: {} heads do not divide width {}", who, heads, width)};
}

}  // namespace hydra
