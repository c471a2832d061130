#pragma once
// Arguments and results of a shard's backward visits.

#include "models/layer_values.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>
#include <vector>

namespace hydra {

/// The parameter buffers of a shard: the flat one of those that are stepped, and the bytes of the base (the frozen
/// ones), undefined if there are none.
struct shard_values {
  shard_values(at::Tensor trained_ones, at::Tensor frozen_ones = {})  // NOLINT: most shards have only the former
      : trained(std::move(trained_ones)), base(std::move(frozen_ones)) {}
  at::Tensor trained;
  at::Tensor base;
};

/// All that a visit reads but its upstream gradient.
struct read_buffers {
  shard_values parameters;
  at::Tensor input;   ///< of one micro-batch
};

/// Leaf parameters of a backward visit; frozen ones have no gradient. The others are detached views of the flat
/// parameter buffer whose .grad are views of the flat gradient buffer, so micro-batches accumulate there without a
/// copy. Gradients of bf16 parameters are written to `part` first, as large as the parameters, which is added to the
/// fp32 `sum` after each micro-batch.
struct bound_parameters {
  std::vector<layer_values> layers;
  std::shared_ptr<widening> memory =
      std::make_shared<widening>();  ///< of what is frozen, during its layer's computation
  at::Tensor sum{};   ///< undefined for fp32 parameters
  at::Tensor part{};
};

/// Of one micro-batch.
struct backward_result {
  at::Tensor input_gradient;   ///< shape of the input; undefined if it is not wanted
  at::Tensor loss;             ///< scalar: this micro-batch's part of the step's loss; last shard only
};

/// The sum rounded to bf16 (nearest, ties to even), in the memory of `part`, which has been added.
at::Tensor rounded_sum(const bound_parameters& bound);

}  // namespace hydra
