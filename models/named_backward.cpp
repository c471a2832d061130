#include "models/named_backward.hpp"

#include "models/layer_name.hpp"
#include "runtime/base/rethrow.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {

void rethrow_from_backward(const layer_range& layers) {
  const auto& [model, first, last] = layers;
  rethrow_from(last - first == 1
                   ? layer_name(model, first) + ", backward"
                   : fmt::format("layers {} to {} of chain \"{}\", backward", first, last - 1, model.family()));
}

void backward_through(const layer_range& layers, const at::Tensor& y, const at::Tensor& upstream) try {
  y.backward(upstream);
} catch (...) {
  rethrow_from_backward(layers);
}

}  // namespace hydra
