#pragma once
// The units of a training step.

#include "partition/graph/model_outline.hpp"
#include "runtime/base/work_graph.hpp"

namespace hydra {

/// A lane for each wave of each replica, replica by replica: F_0 .. F_{S-2}, B_{S-1} (with the loss) .. B_t, where t is
/// the first shard with trained parameters. Shards below t pass nothing back. B_s of a wave adds to the gradient sum
/// that B_s of the wave before leaves, so it also follows that one. A shard that is stepped on the device has no sum:
/// its backward unit writes the next version.
/// Shards of a group are in lanes of their own, one for each piece: the other shards are in that of piece 0. Backwards,
/// each leaves a term of the gradient of what they read; the shard before them adds these, from the last piece to the
/// first.
/// Where the replicas meet, the first lane goes on with all micro-batches, and the others wait for what it passes back.
/// Throws fault_error{bad_input} for a shape that is none, {internal} if `model` has another number of shards, or if a
/// shard that is visited in several lanes is to be stepped on a device, which sees only the sum of its own.
work_graph train_graph(const model_outline& model);

}  // namespace hydra
