#pragma once
// What the cross entropy of a token needs of its logits, so that no piece of a head has to know those of another one.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace hydra {

/// For each token, fp32 [..., 4]: the largest logit m, the sum of exp(logit - m), the target's logit (0: another piece
/// has it), the class of the largest one. In to_columns() these are 12 columns.
///
/// loss = m + log(sum) - target's logit. Its gradient does not depend on m, which is a constant to it.
inline constexpr std::int64_t class_numbers = 4;

/// `logits` fp32 [..., classes] of classes first, first + 1, ...; `targets` i64 [...]. Differentiable in the logits.
at::Tensor class_statistics(const at::Tensor& logits, const at::Tensor& targets, std::int64_t first);

/// Those of the classes of both; of equal logits the class of `before` is the largest one.
at::Tensor joined_statistics(const at::Tensor& before, const at::Tensor& own);

/// Of each token: its cross entropy, differentiable, and the class of its largest logit.
at::Tensor loss_of(const at::Tensor& statistics);
at::Tensor best_class(const at::Tensor& statistics);

}  // namespace hydra
