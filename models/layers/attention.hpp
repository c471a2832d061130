#pragma once
// Causal attention over a whole text or over a text that is being generated; shared by the blocks of language models.

#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

namespace hydra {

/// Queries, keys and values of some tokens: [samples, heads, tokens, size]. Keys and values may have fewer heads, whose
/// number divides that of the queries: each serves a group of adjacent queries (Ainslie et al. 2023).
struct attention_heads {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
};

/// What is not softmax(Q K^T / sqrt(size)) V over all tokens so far.
struct attention_form {
  std::int64_t window = 0;  ///< a token attends to itself and the window - 1 tokens before it; 0: to all before it
  double scale = 0;         ///< of Q K^T; 0: 1 / sqrt(size)
  double score_cap = 0;     ///< scores s become cap * tanh(s / cap), in an explicit matrix; 0: they stay
};

/// Attention of each token to itself and the tokens before it in its record: [samples, heads, tokens, size]. `starts`
/// [samples, tokens] is 1 where a record starts (packed_tokens.hpp); undefined: each sample is one record. A window
/// that holds all tokens changes no bit.
at::Tensor causal_attention(const attention_heads& heads, const at::Tensor& starts = {},
                            const attention_form& form = {});

/// Attention with an explicit matrix of probabilities, because some of them are dropped: softmax(Q K^T / sqrt(size) +
/// bias), dropout, V. As many heads of keys and values as of queries. `bias` is added to the scores, or undefined.
/// `site` distinguishes this dropout from others of the layer.
at::Tensor explicit_attention(const attention_heads& heads, const at::Tensor& bias, double dropout,
                              const layer_context& context, std::uint32_t site);

/// Causal attention with dropout of its probabilities. The matrix of probabilities is then explicit in evaluation, too:
/// a layer's memory does not depend on whether it is trained. With a dropout of 0 it is causal_attention().
at::Tensor dropped_attention(const attention_heads& heads, double dropout, const layer_context& context,
                             std::uint32_t site, const at::Tensor& starts = {});

/// causal_attention() for tokens that follow those in `memory`, which keeps the new keys and values, also those that
/// have left the window. Its capacity grows by 64 tokens at a time: memory.tensors = {keys, values}, each [samples,
/// heads, capacity, size].
at::Tensor growing_attention(const attention_heads& heads, decode_memory& memory, const attention_form& form = {});

/// f32[samples, tokens, heads * size] split into heads, and back.
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);
at::Tensor join_heads(const at::Tensor& x);

}  // namespace hydra
