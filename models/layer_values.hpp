#pragma once
// The parameters of a layer on a device, and its computation with them.

#include "models/chain.hpp"
#include "models/frozen/base_format.hpp"
#include "models/parameter_layout.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace hydra {

/// A frozen parameter that is stored in another format than it is computed with: `values` has memory only while its
/// layer computes.
struct widened_parameter {
  base_format format;
  at::Tensor stored;  ///< bytes
  at::Tensor values;
};

/// In the order of the layer's parameters: views into a flat buffer (parameter_layout::elements() values) and a base
/// (parameter_layout::base_bytes() bytes), and `widened` ones. Without a base, those of frozen parameters are
/// undefined.
struct layer_values {
  layer_values(const parameter_layout& layout, const at::Tensor& flat, const at::Tensor& base, std::size_t layer);
  std::vector<at::Tensor> parameters;
  std::vector<bool> frozen{};  ///< which of them are in the base
  std::vector<widened_parameter> widened{};
};

/// Memory of the widened parameters of one layer at a time. Used by one thread at a time.
class widening {
 public:
  /// These have memory and their values; those before have none any more.
  void hold(const std::vector<widened_parameter>& parameters);
  void release() { hold({}); }

 private:
  std::vector<widened_parameter> held_;
};

/// chain::forward() of layer i, whose output must not be its input. With a graph, the layer's parameters are widened
/// again when the gradient of its output is known, and lose their memory when that of a layer below is, or by
/// release(): so a backward visit has those of one layer at a time.
at::Tensor compute_layer(const chain& model, std::size_t i, const layer_values& values, const at::Tensor& x,
                         const layer_context& context, const std::shared_ptr<widening>& memory);

/// The same in a forward visit or an evaluation: without a graph. A layer that depends on gradients has parameters that
/// require them unless they are frozen (in an evaluation, too: at::matmul chooses kernels by that), in training with a
/// graph of its own and for an `x` that requires one; the output then requires one if it would have one.
at::Tensor compute_layer_forward(const chain& model, std::size_t i, const layer_values& values, const at::Tensor& x,
                                 const layer_context& context, const std::shared_ptr<widening>& memory);

}  // namespace hydra
