#pragma once
// Checkpoints whose weights are quantised: bitsandbytes, GPTQ, AWQ, FP8, compressed-tensors.

#include "models/weights/hub_tensors.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

/// Throws fault_error{bad_input} with the tensor, its type, the method that config.json names and what to do if one with the
/// name of a weight is stored as integers or in 8 bits. The key quantization_config alone says nothing: merging weights often
/// leaves it behind.
void refuse_quantised_weights(const model_config& config, const hub_tensors& tensors);

}  // namespace hydra
