#include "models/exported/hydra_operations.hpp"

#include "models/dropout.hpp"

#include <ATen/Functions.h>

#include <cmath>
#include <limits>

namespace hydra {

namespace {

/// Each head as often as heads of the query share it.
at::Tensor for_all_heads(const at::Tensor& x, const at::Tensor& query) {
  return x.repeat_interleave(query.size(-3) / x.size(-3), -3);
}

at::Tensor scores_of(const attention_call& call, const at::Tensor& key) {
  const double scale = call.scale.value_or(1 / std::sqrt(static_cast<double>(call.query.size(-1))));
  const at::Tensor scores = call.query.matmul(key.transpose(-2, -1)).mul(scale);
  at::Tensor mask = call.mask;
  if (call.is_causal)
    mask = at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool).requires_grad(false)).tril();
  if (!mask.defined()) return scores;
  if (mask.scalar_type() != at::kBool) return at::add(scores, mask);
  return scores.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

std::optional<at::Tensor> given(const at::Tensor& x) { return x.defined() ? std::optional{x} : std::nullopt; }

}  // namespace

at::Tensor graph_dropout(const at::Tensor& input, double p, std::uint32_t site, const layer_context& context) {
  layer_context whole = context;
  whole.layer = 0;
  return keyed_dropout(input, p, whole, site);
}

at::Tensor graph_attention(const attention_call& call, const layer_context& context) {
  if (!context.training)
    return at::scaled_dot_product_attention(call.query, call.key, call.value, given(call.mask), 0, call.is_causal,
                                            call.scale, call.grouped);
  const at::Tensor key = call.grouped ? for_all_heads(call.key, call.query) : call.key;
  const at::Tensor value = call.grouped ? for_all_heads(call.value, call.query) : call.value;
  const at::Tensor weights = scores_of(call, key).softmax(-1);
  return graph_dropout(weights, call.dropout, call.site, context).matmul(value);
}

}  // namespace hydra
