#pragma once
// What a forward visit leaves on its device so that the backward visit of the shard need not compute the forward again.

#include "partition/execute/shard_tensors.hpp"
#include "runtime/device/device_block.hpp"

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace hydra {

/// The autograd graph of one micro-batch with the tensors that it has saved, but not the parameters and the input:
/// these it finds again in the buffers that the backward visit has been given, wherever they are then. So a shard's
/// blocks may leave the device between its two visits. A block of the device's cache, without a tensor of its own. For
/// one thread at a time.
class saved_graph final : public device_block {
 public:
  saved_graph();
  ~saved_graph();
  saved_graph(const saved_graph&) = delete;
  saved_graph& operator=(const saved_graph&) = delete;

  using computation = std::function<at::Tensor(const std::vector<layer_values>& leaves, const at::Tensor& input)>;

  /// Runs `compute` with leaves of these parameters, which are views of `buffers`, and of the input, if `passes_on`
  /// with its gradient. Returns the output, without a graph.
  at::Tensor record(const read_buffers& buffers, const std::vector<layer_values>& layers, bool passes_on,
                    const computation& compute);

  /// False if nothing was recorded, or it is used up: record() also drops what a function of a layer has taken of the
  /// buffers for itself.
  bool recorded() const noexcept;

  /// Differentiates the output: adds into the gradients of `bound` and returns that of the input (undefined if it was
  /// not recorded). `buffers` hold the values that they had. Only once.
  at::Tensor differentiate(const bound_parameters& bound, const read_buffers& buffers, const at::Tensor& upstream);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
