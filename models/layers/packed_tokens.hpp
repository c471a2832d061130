#pragma once
// Activations between the layers of a causal language model whose samples hold several records, one after the other:
// each token's vector and, in one more column, whether a record starts there. So where a record starts needs no
// separate path across the cuts of a chain: a layer's input is all it needs, and 0 and 1 are exact in every format.

#include "models/tensor_spec.hpp"

#include <ATen/core/Tensor.h>

#include <string_view>

namespace hydra {

/// f32[samples, tokens, width], or with starts f32[samples, tokens, width + 1]: the last column is 1 for the first
/// token of a record, 0 for the others, and has no gradient.
struct packed_tokens {
  at::Tensor vectors;  ///< f32[samples, tokens, width], contiguous
  at::Tensor starts;   ///< f32[samples, tokens]; undefined: each sample is one record
};

packed_tokens split_starts(const at::Tensor& input, std::int64_t width);
/// The vectors themselves where starts are undefined.
at::Tensor join_starts(const packed_tokens& tokens);

/// Throws fault_error{bad_input} unless `input` is f32[samples, tokens, width] or f32[samples, tokens, width + 1].
/// `who` names the layer.
void require_packed_tokens(std::string_view who, const tensor_spec& input, std::int64_t width);

/// The rows of a language model's samples: i64[samples, tokens] ids, or i64[samples, 2, tokens] ids and starts.
struct packed_ids {
  at::Tensor ids;     ///< i64[samples, tokens]
  at::Tensor starts;  ///< i64[samples, tokens]; undefined: each sample is one record
};

packed_ids split_ids(const at::Tensor& input);

/// Tokens per sample and width of what an embedding of this width makes of `input`: f32[samples, tokens, width (+ 1)].
/// Throws fault_error{bad_input} unless it is one of the two above with at most `context` tokens.
tensor_spec embedded(std::string_view who, const tensor_spec& input, std::int64_t context, std::int64_t width);

/// Position of each token in its record: i64[samples, tokens] from starts [samples, tokens] of any type. The first
/// token of a sample starts a record whether it is marked or not.
at::Tensor positions_in_records(const at::Tensor& starts);

/// bool[samples, 1, tokens (of queries), tokens (of keys)]: the token and those before it in its record.
at::Tensor visible_in_records(const at::Tensor& starts);

}  // namespace hydra
