#pragma once
// Which calls of an exported layer are linear maps to which an adapter may add. Standard library only.

#include "models/exported/graph.hpp"
#include "models/layer.hpp"

#include <cstddef>
#include <vector>

namespace hydra {

struct linear_use {
  std::size_t call = 0;
  std::size_t factor = 0;  ///< argument of the call that the linear map is applied to
  std::size_t weight = 0;  ///< among the parameters of the layer
  linear_weight order = linear_weight::out_in;
};

/// x W^T (+ b) by aten::linear, and b + x W by aten::addmm, of a weight that nothing else in the layer uses.
std::vector<linear_use> linear_uses(const graph_layer& layer);

}  // namespace hydra
