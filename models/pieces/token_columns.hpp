#pragma once
// Boundaries of a language model whose classes are in pieces: beside each token's vector, and where records start
// (packed_tokens.hpp), the token's target, which each piece of the head needs. And numbers in columns: what is not
// rounded where the boundary is in bf16.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace hydra {

/// Each number is in three columns, whose sum it is: exact in bf16, too, because these have 8 bits of its 24.
inline constexpr std::int64_t columns_of_number = 3;
constexpr std::int64_t columns_of_targets(bool there) { return there ? columns_of_number : 0; }

/// f32[..., n] -> f32 or bf16[..., 3 n], and back; differentiable, gradients are as exact.
at::Tensor to_columns(const at::Tensor& numbers, at::ScalarType type);
at::Tensor from_columns(const at::Tensor& columns);

/// f32[samples, tokens, width], or with starts width + 1; with targets 3 more. Nothing but the vectors has a gradient.
struct token_columns {
  at::Tensor vectors;  ///< contiguous
  at::Tensor rest;     ///< the columns behind them; undefined: there are none
};

token_columns open_tokens(const at::Tensor& input, std::int64_t width);
at::Tensor close_tokens(const at::Tensor& vectors, const at::Tensor& rest);

/// [samples, tokens], undefined: each sample is one record. `targets`: these are there, too.
at::Tensor starts_in(const at::Tensor& rest, bool targets);
/// i64[samples, tokens], of columns that have them.
at::Tensor targets_in(const at::Tensor& rest);

}  // namespace hydra
