#pragma once
// Names of blocks: bytes that have a buffer on the host (their home), but for what a forward visit saves. Messages
// carry only these names. Standard library only.

#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <string>

namespace hydra {

/// What a block holds. `activation` of shard s is the output of s; `upstream` of shard s is the gradient with
/// respect to that output, so it is produced by s+1 and read by s. `minibatch` is what shard 0 reads, `targets` what
/// the loss reads, `loss` what the last shard's visit leaves behind: numbers of its micro-batches. `base` are the
/// frozen parameters of a shard, `parameters` the others. `saved` is what a forward visit has saved of a micro-batch
/// for its backward visit: on the device only. Where several shards leave terms of what `s` reads, their activations,
/// `joined` is the sum; where several read the output of the shard below, `term` is the gradient of it that `s` leaves.
enum class block_kind : std::uint8_t {
  parameters, gradients, activation, upstream, minibatch, targets, loss, state, base, saved, joined, term
};

/// Training and evaluation visits of the same step must not share activations.
enum class pass_kind : std::uint8_t { train, evaluation };

/// `step` is the version for parameters and state, 0 for a base, the optimizer step for everything else; `micro_batch`
/// of a state block is the number of its buffer (shard_plan::state_buffers), of gradients the last wave that has added
/// to the sum.
struct block_id {
  model_id model;
  replica_id replica;
  step_index step;
  pass_kind pass = pass_kind::train;
  block_kind kind = block_kind::parameters;
  shard_index shard;
  micro_batch_index micro_batch;

  friend auto operator<=>(const block_id&, const block_id&) = default;

  friend auto inspect(auto& f, block_id& x) {
    return f(x.model, x.replica, x.step, x.pass, x.kind, x.shard, x.micro_batch);
  }
};

/// "activation of model 3 shard 1 step 7 micro-batch 0".
std::string to_string(const block_id& id);
std::string to_string(block_kind kind);

}  // namespace hydra

template <>
struct std::hash<hydra::block_id> {
  std::size_t operator()(const hydra::block_id& id) const noexcept;
};
