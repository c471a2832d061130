#pragma once
// Checkpoints whose weights are quantised: bitsandbytes, GPTQ, AWQ, FP8, compressed-tensors.

#include "models/weights/hub_tensors.hpp"
#include "models/weights/model_config.hpp"

#include <string>

namespace hydra {

/// How many weights are in 4 bits that Hydra reads (four_bit_weights.hpp), and of which types, as a sentence; empty:
/// none.
std::string four_bit_note(const hub_tensors& tensors);

/// Throws fault_error{bad_input} with the tensor, its type, the method that config.json names and what to do if another
/// one with the name of a weight is stored as integers or in 8 bits. The key quantization_config alone says nothing:
/// merging weights often leaves it behind.
void refuse_quantised_weights(const model_config& config, const hub_tensors& tensors);

}  // namespace hydra
