#pragma once
// What a unit reads, produces and reads for the last time. Block names are derived from the unit alone, never from what
// happened before: the actors and the block store agree because they call the same functions.

#include "partition/graph/batch_range.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/step_graph.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace hydra {

/// Blocks of one micro-batch of a visit. `input`: minibatch for shard 0, else the boundary activation below.
/// `second`: upstream gradient, or the targets for the shard that computes the loss; forward visits have none.
struct micro_batch_inputs {
  block_id input;
  std::optional<block_id> second;
};

/// The parameter version a unit works with.
block_id parameters_of(const unit& u);
/// The frozen parameters of its shard.
block_id base_of(const unit& u);
/// The sum of the unit's replica after its wave; with the last wave it is that of the whole replica.
block_id gradients_of(const unit& u);
/// The sum after the wave before, to which the unit adds; none for the first wave, which starts with zero.
std::optional<block_id> sum_before(const unit& u);
block_id loss_of(const unit& u);
/// What a forward visit saves of a micro-batch for the backward visit of the same shard; the same name for both.
block_id saved_by(const unit& u, micro_batch_index k);

micro_batch_inputs inputs_of(const unit& u, const step_shape& shape, micro_batch_index k);

/// Forward and evaluation: the boundary activation (not of the last shard); backward of a shard s above the first
/// trained one: the upstream gradient of shard s-1; else nothing.
std::optional<block_id> output_of(const unit& u, const step_shape& shape, micro_batch_index k);

/// True if the unit produces gradients (and computes the loss if its shard is the last).
bool has_gradients(const unit& u) noexcept;
bool has_loss(const unit& u, const step_shape& shape) noexcept;
/// True if the unit is the last of its lane in a training step.
bool ends_step(const unit& u, const step_shape& shape) noexcept;

/// Everything that is in host memory when the unit commits: outputs of all micro-batches, gradients, loss.
std::vector<block_id> produced_by(const unit& u, const step_shape& shape);

/// Blocks that no unit reads after this unit's commit.
std::vector<block_id> consumed_by(const unit& u, const step_shape& shape);

}  // namespace hydra
