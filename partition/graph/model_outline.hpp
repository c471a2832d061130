#pragma once
// What the graphs of a model are made from: its shape and the bytes of its blocks, without layers, devices or times.

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/shard_group.hpp"
#include "runtime/base/step_shape.hpp"

#include <optional>
#include <vector>

namespace hydra {

/// Bytes on the host, unrounded.
struct shard_outline {
  byte_count parameters;              ///< may be 0: all are frozen
  byte_count base{};                  ///< frozen parameters, if it has any
  std::optional<block_id> shared{};   ///< their name, if other models may have the same
  byte_count gradients;               ///< sum of a replica
  byte_count partial_sum;             ///< sum to which another wave adds
  byte_count output{};                ///< boundary of one micro-batch, or term of it; 0 for the last shard
  byte_count saved{};                 ///< of one micro-batch, for the backward visit; 0: nothing
  std::vector<byte_count> state{};    ///< buffers of the optimizer's state
  bool steps_on_device = false;       ///< its backward visit reads and writes them, too
};

struct model_outline {
  step_shape shape;
  std::vector<shard_outline> shards{};  ///< as many as the shape has
  std::vector<shard_group> groups{};    ///< ascending; at least one shard before each but the first, and behind each
  byte_count minibatch{};               ///< of one micro-batch
  byte_count targets{};                 ///< the same
  byte_count loss{};                    ///< the number that the last shard leaves of it
};

}  // namespace hydra
