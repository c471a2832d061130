#pragma once
// The computation of one visit: from blocks on a device to blocks on that device, micro-batch by micro-batch.

#include "partition/execute/sharded_model.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device_block_ptr.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace hydra {

/// Blocks of one micro-batch. `second` is null where no upstream or targets are read, `output` for the backward of
/// shard 0 and the evaluation of the last shard.
struct micro_batch_blocks {
  device_block_ptr input;
  device_block_ptr second;
  device_block_ptr output;
  std::vector<device_block_ptr> more_inputs{};    ///< added to the input, in their order
  std::vector<device_block_ptr> more_upstream{};  ///< added to `second`
  device_block_ptr skip{};                        ///< added to the gradient of the input; null: nothing
  device_block_ptr joined{};                      ///< takes the sum of the inputs; null: nobody reads it
  /// Of a forward visit: to be filled. Of a backward visit: recorded by the forward visit, and used up; null: the
  /// forward is computed again.
  std::shared_ptr<saved_graph> saved{};
};

/// Of one micro-batch of an evaluation, as the last shard produces it (shard::score).
struct evaluation_score {
  float loss = 0;        ///< sum over its targets
  float correct = 0;     ///< targets that were predicted correctly, if the loss counts them
};

/// Parameters of the shard; `base` is null if none is frozen.
struct parameter_blocks {
  device_block_ptr trained;
  device_block_ptr base{};
};

/// Output of an evaluation visit of the last shard: fp32 [micro-batches, 2].
std::vector<evaluation_score> scores_in(std::span<const float> written_back);

/// Run its micro-batches in order on one queue. Between micro-batches it keeps only the bound parameters; after the
/// last one it holds no reference to any tensor: only their block keeps the gradients alive.
class visit {
 public:
  /// `targets`: of the whole step.
  visit(sharded_model_ptr model, const unit& what, std::size_t targets);

  /// Blocks that the visit as a whole produces: gradients of backward visits (fp32 sums; where the chain's gradients
  /// are bf16 the last micro-batch of the last wave rounds them, and widens them again for a shard that is stepped on
  /// the device), the losses from the last shard (fp32 [micro-batches]; of an evaluation [micro-batches, 2], see
  /// shard::score). `sum`: that of the wave before, to which the gradients are added; null for zero. It may be the same
  /// block.
  struct results {
    device_block_ptr gradients;
    device_block_ptr loss;
    device_block_ptr sum{};
  };

  /// Computes micro-batch number `k` of the visit (0-based). The first one takes over the sum, or zeroes the gradients.
  void run(std::size_t k, const parameter_blocks& parameters, const micro_batch_blocks& blocks, const results& out);

 private:
  shard_values values_of(const parameter_blocks& parameters) const;
  void run_forward(const visit_context& context, const parameter_blocks& parameters, const micro_batch_blocks& blocks);
  void run_score(std::size_t k, const visit_context& context, const parameter_blocks& parameters,
                 const micro_batch_blocks& blocks, const results& out);
  void run_backward(std::size_t k, const visit_context& context, const parameter_blocks& parameters,
                    const micro_batch_blocks& blocks, const results& out);
  void begin_gradients(const parameter_blocks& parameters, const results& out);
  void round_gradients(const results& out) const;
  /// With what is added to them.
  at::Tensor input_of(const micro_batch_blocks& blocks) const;
  at::Tensor second_of(const micro_batch_blocks& blocks) const;
  const shard_plan& planned() const { return model_->plan.shards[what_.shard.value]; }

  sharded_model_ptr model_;
  unit what_;
  std::size_t targets_;
  std::shared_ptr<bound_parameters> bound_;   ///< of a backward visit that is under way
};

}  // namespace hydra
