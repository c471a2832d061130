#pragma once
// What crosses from a layer to the next, as one flat tensor (FORMAT.md, "Boundaries").

#include "models/exported/graph.hpp"
#include "models/tensor_spec.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace hydra {

using graph_parts = std::shared_ptr<const std::vector<graph_part>>;

/// bits [samples, n]: as many as the parts need in all, the rest zeros.
tensor_spec boundary_spec(const std::vector<graph_part>& parts, std::int64_t samples);

/// Of that spec: the values, each with its strides. Differentiable when grad mode is on: the gradient of the flat
/// tensor has those of the parts, with their gradients' strides. `may_share`: nobody else uses the values' memory,
/// which the result may then be.
at::Tensor close_boundary(const graph_parts& parts, std::int64_t samples, const std::vector<at::Tensor>& values,
                          bool may_share = false);

/// The inverse: each value is in the memory of `flat`, which nobody may change, at a multiple of 256 bytes of it.
std::vector<at::Tensor> open_boundary(const graph_parts& parts, std::int64_t samples, const at::Tensor& flat);

/// A tensor with these strides and the same elements: itself if it has them.
at::Tensor with_strides(const at::Tensor& x, const std::vector<std::int64_t>& strides);

}  // namespace hydra
