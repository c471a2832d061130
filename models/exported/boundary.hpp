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

/// Of that spec: the values, each with its strides. Differentiable when grad mode is on: the gradient of the flat tensor has
/// those of the parts, with their gradients' strides.
at::Tensor close_boundary(const graph_parts& parts, std::int64_t samples, const std::vector<at::Tensor>& values);

/// The inverse: each value is a tensor of its own, which begins at a multiple of 64 bytes.
std::vector<at::Tensor> open_boundary(const graph_parts& parts, std::int64_t samples, const at::Tensor& flat);

/// A tensor with these strides and the same elements: itself if it has them.
at::Tensor with_strides(const at::Tensor& x, const std::vector<std::int64_t>& strides);

}  // namespace hydra
