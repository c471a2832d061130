#pragma once
// Dropout with a mask that is a function of the identity of the application, so that a recomputed forward drops the
// same elements.

#include "models/layer.hpp"

namespace hydra {

/// Key of the mask of one application: (seed, step, micro-batch, layer, site). `site` distinguishes the places in one
/// layer.
std::uint64_t dropout_key(const layer_context& context, std::uint32_t site) noexcept;

/// Zeroes each element with probability `p` and scales the others by 1/(1-p); element i is kept if the i-th uniform
/// number of the key is at least p. Identity if p is 0 or the context is not training. Only the key is saved for
/// backward. fp32 and bf16, on devices that have keyed_mask.
at::Tensor keyed_dropout(const at::Tensor& input, double p, const layer_context& context, std::uint32_t site);

}  // namespace hydra
