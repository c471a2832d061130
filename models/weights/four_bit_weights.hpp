#pragma once
// Weights that bitsandbytes quantised to 4 bits, as transformers saves them: X, packed, and beside it X.absmax,
// X.quant_map, X.quant_state.bitsandbytes__nf4 (or __fp4) and, quantised twice, X.nested_absmax and X.nested_quant_map.

#include "models/weights/hub_tensors.hpp"

#include <vector>

namespace hydra {

/// Makes one tensor of the four to six of such a weight, and leaves all others as they are. Throws
/// fault_error{bad_input} with file, tensor and what to do if one of them is missing, or is not what X.quant_state
/// says.
std::vector<hub_tensor> join_four_bits(const std::vector<hub_tensor>& stored);

}  // namespace hydra
