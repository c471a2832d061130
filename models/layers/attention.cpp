#include "models/layers/attention.hpp"

#include "models/decode_memory.hpp"
#include "models/dropout.hpp"
#include "models/layers/packed_tokens.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_ops.h>
#include <ATen/ops/scaled_dot_product_attention_ops.h>

#include <cmath>
#include <limits>
#include <optional>

namespace hydra {
namespace {

constexpr std::int64_t room_step = 64;  ///< tokens

/// Repeats keys or values for each query head: attention with fewer heads would not use the kernel without a score
/// matrix.
at::Tensor for_each_query(const at::Tensor& x, std::int64_t heads) {
  if (x.size(1) == heads) return x;
  const std::int64_t group = heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

at::Tensor attend(const attention_heads& h, const std::optional<at::Tensor>& mask, bool causal) {
  const std::int64_t heads = h.queries.size(1);
  return at::_ops::scaled_dot_product_attention::call(h.queries, for_each_query(h.keys, heads),
                                                      for_each_query(h.values, heads), mask, 0.0, causal, {}, false);
}

/// [fresh, seen + fresh]: true where a new token may attend.
at::Tensor visible(std::int64_t fresh, std::int64_t seen, const at::Tensor& like) {
  const c10::SymInt shape[]{fresh, seen + fresh};
  return at::_ops::full::call(shape, true, at::kBool, {}, like.device(), {}).tril(seen);
}

at::Tensor with_room(const at::Tensor& old, const at::Tensor& fresh, std::int64_t seen) {
  const std::int64_t needed = seen + fresh.size(2);
  if (old.defined() && old.size(2) >= needed) return old;
  const std::int64_t space = (needed + room_step - 1) / room_step * room_step;
  at::Tensor larger = fresh.new_empty({fresh.size(0), fresh.size(1), space, fresh.size(3)});
  if (seen > 0) larger.narrow(2, 0, seen).copy_(old.narrow(2, 0, seen));
  return larger;
}

/// Keys or values of all tokens so far, including the new ones.
at::Tensor remember(at::Tensor& kept, const at::Tensor& fresh, std::int64_t seen) {
  kept = with_room(kept, fresh, seen);
  kept.narrow(2, seen, fresh.size(2)).copy_(fresh);
  return kept.narrow(2, 0, seen + fresh.size(2));
}

}  // namespace

at::Tensor causal_attention(const attention_heads& heads, const at::Tensor& starts) {
  return starts.defined() ? attend(heads, visible_in_records(starts), false) : attend(heads, {}, true);
}

at::Tensor explicit_attention(const attention_heads& heads, const at::Tensor& bias, double dropout,
                              const layer_context& context, std::uint32_t site) {
  const double scale = 1 / std::sqrt(static_cast<double>(heads.queries.size(3)));
  at::Tensor scores = heads.queries.matmul(heads.keys.transpose(2, 3)).mul(scale);
  if (bias.defined()) scores = scores.add(bias);
  return keyed_dropout(scores.softmax(-1), dropout, context, site).matmul(heads.values);
}

at::Tensor dropped_attention(const attention_heads& heads, double dropout, const layer_context& context,
                             std::uint32_t site, const at::Tensor& starts) {
  if (dropout == 0) return causal_attention(heads, starts);
  const std::int64_t tokens = heads.queries.size(2);
  const at::Tensor shown = starts.defined() ? visible_in_records(starts) : visible(tokens, 0, heads.queries);
  const at::Tensor hidden = shown.logical_not();
  const at::Tensor none = heads.queries.new_zeros(hidden.sizes());
  const at::Tensor bias = none.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return explicit_attention(heads, bias, dropout, context, site);
}

at::Tensor growing_attention(const attention_heads& heads, decode_memory& memory) {
  const std::int64_t seen = memory.seen, fresh = heads.queries.size(2);
  memory.tensors.resize(2);
  const attention_heads all{heads.queries, remember(memory.tensors[0], heads.keys, seen),
                            remember(memory.tensors[1], heads.values, seen)};
  if (seen == 0) return attend(all, {}, true);
  if (fresh == 1) return attend(all, {}, false);
  return attend(all, visible(fresh, seen, heads.queries), false);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor join_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace hydra
