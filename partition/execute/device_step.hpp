#pragma once
// The optimizer step of a shard on the device that has just computed its gradients: what it reads and produces, and its
// computation. Names are derived from the unit and its plan alone, as in dataflow.hpp.

#include "partition/execute/sharded_model.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device_block_ptr.hpp"

#include <cstddef>
#include <vector>

namespace hydra {

/// True if the unit also steps its shard.
bool steps_shard(const unit& u, const model_plan& plan);

/// The optimizer state it reads: buffer number i of shard_plan::state_buffers().
block_id state_block(const unit& u, std::size_t i);
/// The same and the parameters after the step: the next version.
block_id stepped_state_block(const unit& u, std::size_t i);
block_id stepped_parameters_of(const unit& u);

/// True of these two, of any buffer.
bool makes_version(const unit& u, const block_id& id);

/// Everything that is in host memory when the unit commits: as produced_by() of dataflow.hpp, but a unit that steps
/// produces the next version instead of gradients.
std::vector<block_id> written_back_by(const unit& u, const model_plan& plan);

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
