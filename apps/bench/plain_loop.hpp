#pragma once
// Training as one writes it on LibTorch, in memory: what Hydra is compared with.

#include "actors/protocol/model_description.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>

namespace hydra::apps {

/// Time of `steps` steps of the model on one thread, after one that is not counted: forward and backward of the whole
/// chain by autograd, micro-batch by micro-batch, then at::_fused_adamw_. Batches are of the model's data.
duration train_plainly(const model_description& m, std::uint32_t steps);

}  // namespace hydra::apps
