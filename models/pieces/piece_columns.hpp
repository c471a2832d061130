#pragma once
// What passes from one piece of a layer to the next, in the columns of a boundary: the sum of the pieces so far, then
// what they compute with. So all that a piece needs is its input, wherever the chain is cut.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace hydra {

/// [..., widths] contiguous, one after the other, and back; undefined ones are left out. The gradient of what is split
/// are those of the parts, one after the other, and back.
std::vector<at::Tensor> split_columns(const at::Tensor& boundary, const std::vector<std::int64_t>& widths);
at::Tensor join_columns(std::initializer_list<at::Tensor> parts);
at::Tensor joined_columns(std::span<const at::Tensor> parts);  ///< all there

/// ((first + second) + third) ..., without gradients: later ones may have fewer columns, and are added to the first
/// ones.
at::Tensor sum_of_terms(std::span<const at::Tensor> terms);

/// What a piece computes with, and the same for the pieces after it. Its gradient is added up from the last piece to
/// the first: that of `onward`, then that of `here`.
struct passed_on {
  at::Tensor onward, here;
};
passed_on pass_on(const at::Tensor& values);

}  // namespace hydra
