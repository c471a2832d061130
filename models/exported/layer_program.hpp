#pragma once
// The calls of a layer of an exported model, ready to run.

#include "models/exported/graph.hpp"
#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

/// What a layer computes with, each in the order of the layer's description and with the strides that it says.
/// Parameters of an adapter are behind the layer's own.
struct layer_tensors {
  std::span<const at::Tensor> parameters;
  std::span<const at::Tensor> constants;
  std::span<const at::Tensor> inputs;
};

/// Thread-safe because const.
class layer_program {
 public:
  /// Throws fault_error{bad_input} for calls that cannot run (operator_of(), check_writes()).
  explicit layer_program(const graph_layer& layer);

  /// The outputs of the layer for so many samples, differentiable when grad mode is on. A value is freed after the last
  /// call that needs it. Throws fault_error{bad_input} for an output of another shape or type than the layer says and
  /// for arguments that LibTorch refuses; faults of memory and of the device as they are.
  std::vector<at::Tensor> run(const layer_tensors& on, std::int64_t samples, const layer_context& context) const;

 private:
  class prepared_calls;
  std::shared_ptr<const prepared_calls> calls_;
};

}  // namespace hydra
