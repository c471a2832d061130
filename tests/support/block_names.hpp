#pragma once
// What a unit reads, produces and reads for the last time, by arithmetic on its name: the rules that graphs
// (partition/graph) are compared with.

#include "partition/plan/plan.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/unit.hpp"
#include "tests/support/step_graph.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace hydra::test {

/// Blocks of one micro-batch of a visit. `input`: minibatch for shard 0, else the boundary activation below.
/// `second`: upstream gradient, or the targets for the shard that computes the loss; forward visits have none.
struct micro_batch_inputs {
  block_id input;
  std::optional<block_id> second;
};

micro_batch_inputs inputs_of(const unit& u, const step_shape& shape, micro_batch_index k);
/// Forward and evaluation: the boundary activation (not of the last shard); backward of a shard s above the first
/// trained one: the upstream gradient of shard s-1; else nothing.
std::optional<block_id> output_of(const unit& u, const step_shape& shape, micro_batch_index k);

block_id parameters_of(const unit& u);
/// Under the name that it has in common with those of other models.
block_id base_of(const unit& u, const model_plan& plan);
/// The sum after the wave before; none for the first wave.
std::optional<block_id> sum_before(const unit& u);
block_id loss_of(const unit& u);
/// The same name for the forward visit that saves it and the backward visit.
block_id saved_by(const unit& u, micro_batch_index k);
/// Buffer number i of the optimizer.
block_id state_block(const unit& u, std::size_t i);

/// True if its device also steps the shard.
bool steps_shard(const unit& u, const model_plan& plan);
bool has_gradients(const unit& u) noexcept;
bool has_loss(const unit& u, const step_shape& shape) noexcept;
/// True if the unit is the last of its lane in a training step.
bool ends_step(const unit& u, const step_shape& shape) noexcept;

/// Of a unit that does not step its shard: outputs of all micro-batches, gradients, loss.
std::vector<block_id> produced_by(const unit& u, const step_shape& shape);
/// A unit that steps its shard produces the next version instead of gradients.
std::vector<block_id> written_back_by(const unit& u, const model_plan& plan);
/// Blocks that no unit reads after this unit's commit.
std::vector<block_id> consumed_by(const unit& u, const step_shape& shape);

/// On the host, unrounded.
byte_count bytes_of(const model_plan& plan, const block_id& id);

}  // namespace hydra::test
