#pragma once
// Differentiation, whose faults name the layers.

#include "models/chain.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstddef>

namespace hydra {

/// Layers [first, last) of a chain.
struct layer_range {
  const chain& model;
  std::size_t first = 0, last = 0;
};

/// y.backward(upstream), where these layers (and perhaps the loss) have made `y`. What their autograd functions throw
/// names them: LibTorch does not say in which it was. `upstream` may be undefined for one number.
void backward_through(const layer_range& layers, const at::Tensor& y, const at::Tensor& upstream);

/// In a handler: as rethrow_from(), with the names of these layers.
[[noreturn]] void rethrow_from_backward(const layer_range& layers);

}  // namespace hydra
