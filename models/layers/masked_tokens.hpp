#pragma once
// Activations between the layers of a masked encoder: each token's vector and, in one more column, whether it is a
// token or padding. So the padding mask needs no separate path across the cuts of a chain: a layer's input is all it
// needs.

#include "models/tensor_spec.hpp"

#include <ATen/core/Tensor.h>

#include <string_view>

namespace hydra {

/// f32[samples, tokens, width + 1]: the last column is 1 for a token and 0 for padding, and has no gradient.
struct masked_tokens {
  at::Tensor vectors;  ///< f32[samples, tokens, width], contiguous
  at::Tensor mask;     ///< f32[samples, tokens]
};

masked_tokens split_mask(const at::Tensor& input);
at::Tensor join_mask(const masked_tokens& tokens);

/// Throws fault_error{bad_input} unless `input` is f32[samples, tokens, width + 1]. `who` names the layer.
void require_masked_tokens(std::string_view who, const tensor_spec& input, std::int64_t width);

}  // namespace hydra
