#pragma once
// AdamW whose moments are in 8 bits, on the host.

#include "models/optimizer/moment_block.hpp"
#include "runtime/device/kernels/update_math.hpp"

#include <span>

namespace hydra {

/// One step of values that begin at a block of their parameter. The order of bitsandbytes' kernel
/// (kOptimizerStatic8bit2StateBlockwise): the moments of a block are widened, moved, used for the step in fp32, and
/// then rounded by the largest of them; weight decay comes after the step. A value whose gradient is not finite is not
/// stepped, its moments become 0.
void apply_blockwise_adamw(const blockwise_constants& constants, std::span<float> parameters,
                           std::span<const float> gradients, const block_moment& first, const block_moment& second);

}  // namespace hydra
