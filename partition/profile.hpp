#pragma once
// What each layer of a chain costs, by measurement (the paper's pilot pass, section 2.2).

#include "models/chain.hpp"
#include "runtime/bytes.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

/// One layer for one micro-batch. Bytes are as charged (rounded per tensor). Peaks do not add: a visit needs the sum
/// of `saved` and the largest transient.
struct layer_profile {
  byte_count parameters;          ///< padded floats
  byte_count input;
  byte_count output;
  tensor_spec input_spec;
  tensor_spec output_spec;
  byte_count saved;               ///< alive after the forward with gradient, output included
  byte_count forward_transient;   ///< peak during a forward without gradient, beyond its output
  byte_count backward_transient;  ///< largest peak of forward with gradient or backward, beyond `saved`
  duration forward{};             ///< fastest seen, one micro-batch, speed 1
  duration backward{};            ///< recompute + backward
};

/// A chain for micro-batches of `samples` samples.
struct chain_profile {
  std::vector<layer_profile> layers;
  byte_count targets;             ///< of one micro-batch
  tensor_spec target_spec;
  byte_count loss_transient;      ///< loss forward + backward beyond the last output (its gradient included)
  byte_count loss_saved;
  std::int64_t samples = 0;
};

/// Measures every distinct layer (signature and input shape) once on the calling thread, with one intra-op thread, with zero parameters and
/// inputs of the right shape; `repeats` timed runs after a warm one. Memory is charged to an account of its own.
chain_profile measure(const chain& model, const tensor_spec& sample_target, std::int64_t samples, int repeats = 2);

}  // namespace hydra
