#pragma once
// A unit as data: the blocks that it reads and writes. Standard library only (policies include this file).

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hydra {

/// Indices in a work_graph.
using node_index = strong_id<struct node_tag>;
using block_index = strong_id<struct block_tag>;

/// What a unit does with a block. It reads `parameters`, `base` and `state` of its shard; of each micro-batch `input`
/// (the minibatch, or the boundary activation below), `upstream` (the gradient of its output) or `targets`, and `saved`
/// if the block is there; `sum`: the gradient sum that it adds to. Of several inputs it computes with the sum, in their
/// order, and so of several upstreams; `skip` is added to the gradient of its input. It writes of each micro-batch
/// `output` (the boundary above, or the gradient of its input), `joined` (the sum of its inputs) and `saved`; `sum`:
/// the one after it; `loss`; `parameters` and `state`: the next version.
enum class block_role : std::uint8_t {
  parameters, base, state, input, upstream, skip, targets, saved, sum, output, joined, loss
};

/// How long a block is in host memory.
enum class block_life : std::uint8_t {
  of_step,     ///< from its writer's commit, or since the data were read, to its last reader's
  of_version,  ///< until its next version is made: parameters, optimizer state
  of_run,      ///< as long as a model has it: frozen parameters, with the same name in all steps
  on_device    ///< never: it stays on the device of its writer, and the reader does without it elsewhere
};

/// A block of the graph, or one for each of some consecutive micro-batches: its parts. `id` is the name of the first
/// part, of model 0 in step 0; where its `step` is 1, it is the version after the step (all versions count steps).
struct graph_block {
  block_id id;
  byte_count bytes;  ///< of each part, on the host, unrounded
  std::uint32_t parts = 1;
  block_life life = block_life::of_step;
  bool shared = false;  ///< frozen parameters that other models may have, too: `id` is their name, whatever the model
  friend bool operator==(const graph_block&, const graph_block&) = default;
};

/// All parts of the block.
struct block_use {
  block_role role = block_role::input;
  block_index block;
  friend bool operator==(const block_use&, const block_use&) = default;
};

/// A node of a work_graph. Reads and writes are fixed when the graph is built: where a unit would choose what it reads
/// (experts), it must be split, or name all that it may read.
struct work_unit {
  unit what;                        ///< of model 0, step 0 and attempt 0
  std::vector<block_use> reads{};   ///< parameters first
  std::vector<block_use> writes{};  ///< those that go to the host in the order in which they are leased

  bool writes_any(block_role role) const { return std::ranges::find(writes, role, &block_use::role) != writes.end(); }
};

}  // namespace hydra
