#pragma once
// A few numbers of a layer on a device, as an operation of LibTorch's dispatcher, so that a device type can take them
// with its launch instead of by a copy from memory that is not locked.

#include "runtime/base/tensor_fwd.hpp"

namespace hydra {

/// `values`: f32[n] on the CPU, contiguous. On the CPU the result is `values` itself, on another device of `like` a new
/// tensor with the same bits. Calls "hydra::small_constant(Tensor values, Tensor like) -> Tensor", which copies; a
/// device plug-in may register a kernel. Not differentiable.
at::Tensor small_constant(const at::Tensor& values, const at::Tensor& like);

}  // namespace hydra
