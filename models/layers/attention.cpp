#include "models/layers/attention.hpp"

#include "models/decode_memory.hpp"
#include "models/dropout.hpp"
#include "models/layers/packed_tokens.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_ops.h>
#include <ATen/ops/scaled_dot_product_attention_ops.h>

#include <algorithm>
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

attention_heads with_all_heads(const attention_heads& h) {
  const std::int64_t heads = h.queries.size(1);
  return {h.queries, for_each_query(h.keys, heads), for_each_query(h.values, heads)};
}

double scale_of(const attention_heads& h, const attention_form& form) {
  return form.scale > 0 ? form.scale : 1 / std::sqrt(static_cast<double>(h.queries.size(3)));
}

at::Tensor without_hidden(const at::Tensor& scores, const std::optional<at::Tensor>& mask) {
  return mask ? scores.masked_fill(mask->logical_not(), -std::numeric_limits<double>::infinity()) : scores;
}

at::Tensor capped_attention(const attention_heads& h, const std::optional<at::Tensor>& mask,
                            const attention_form& form) {
  const double cap = form.score_cap;
  const at::Tensor scores = h.queries.matmul(h.keys.transpose(2, 3)).mul(scale_of(h, form) / cap).tanh().mul(cap);
  return without_hidden(scores, mask).softmax(-1).matmul(h.values);
}

/// To the tokens that the mask shows; without one to all, or to those before if `causal`.
at::Tensor attend(const attention_heads& heads, const std::optional<at::Tensor>& mask, bool causal,
                  const attention_form& form) {
  const attention_heads h = with_all_heads(heads);
  if (form.score_cap > 0) return capped_attention(h, mask, form);
  const auto scale = form.scale > 0 ? std::optional{form.scale} : std::nullopt;
  return at::_ops::scaled_dot_product_attention::call(h.queries, h.keys, h.values, mask, 0.0, causal, scale, false);
}

/// Of [..., fresh, seen + fresh], true where a new token may attend.
at::Tensor in_window(const at::Tensor& visible, std::int64_t window) {
  const std::int64_t seen = visible.size(-1) - visible.size(-2);
  return window > 0 ? visible.triu(seen - window + 1) : visible;
}

/// [fresh, seen + fresh]: true where a new token may attend.
at::Tensor visible(std::int64_t fresh, std::int64_t seen, std::int64_t window, const at::Tensor& like) {
  const c10::SymInt shape[]{fresh, seen + fresh};
  return in_window(at::_ops::full::call(shape, true, at::kBool, {}, like.device(), {}).tril(seen), window);
}

/// Whether attention to all tokens before is attention of this form.
bool is_plain(const attention_form& form, std::int64_t tokens) {
  return form.score_cap == 0 && (form.window == 0 || tokens <= form.window);
}

/// The keys and values that the last token attends to.
attention_heads of_last_token(const attention_heads& h, std::int64_t window) {
  const std::int64_t all = h.keys.size(2), kept = window > 0 ? std::min(window, all) : all;
  return {h.queries, h.keys.narrow(2, all - kept, kept), h.values.narrow(2, all - kept, kept)};
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

at::Tensor causal_attention(const attention_heads& heads, const at::Tensor& starts, const attention_form& form) {
  const std::int64_t tokens = heads.queries.size(2);
  if (starts.defined()) return attend(heads, in_window(visible_in_records(starts), form.window), false, form);
  if (is_plain(form, tokens)) return attend(heads, {}, true, form);
  return attend(heads, visible(tokens, 0, form.window, heads.queries), false, form);
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
  const at::Tensor shown = starts.defined() ? visible_in_records(starts) : visible(tokens, 0, 0, heads.queries);
  const at::Tensor hidden = shown.logical_not();
  const at::Tensor none = heads.queries.new_zeros(hidden.sizes());
  const at::Tensor bias = none.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return explicit_attention(heads, bias, dropout, context, site);
}

at::Tensor growing_attention(const attention_heads& heads, decode_memory& memory, const attention_form& form) {
  const std::int64_t seen = memory.seen, fresh = heads.queries.size(2);
  memory.tensors.resize(2);
  const attention_heads all{heads.queries, remember(memory.tensors[0], heads.keys, seen),
                            remember(memory.tensors[1], heads.values, seen)};
  if (seen == 0) return causal_attention(all, {}, form);
  if (fresh == 1) return attend(of_last_token(all, form.window), {}, false, form);
  return attend(all, visible(fresh, seen, form.window, heads.queries), false, form);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor join_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace hydra
