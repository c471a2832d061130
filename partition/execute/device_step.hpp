#pragma once
// The optimizer step of a shard on the device that has just computed its gradients.

#include "partition/execute/sharded_model.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device_block_ptr.hpp"

#include <vector>

namespace hydra {

/// Blocks of a step. `state` is updated in place; the parameters are not, because a unit that fails must leave them
/// unchanged.
struct step_blocks {
  device_block_ptr parameters;            ///< of this version
  device_block_ptr gradients;             ///< fp32
  std::vector<device_block_ptr> state;
  device_block_ptr stepped;               ///< to be filled: parameters of the next version
};

/// Step number `u.step` of `u`'s shard; the result has the same bits as that of model_update::step on the host, and it
/// refuses the same parameters, unless the device is another one than the CPU.
void step_on_device(const sharded_model& model, const unit& u, const step_blocks& blocks);

}  // namespace hydra
