#pragma once
// Layers of a profiled chain that are computed side by side: what they and their neighbours read, and where the chain
// has to be cut.

#include "models/parameter_slice.hpp"
#include "partition/profile/profile.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/shard_group.hpp"

#include <cstddef>
#include <vector>

namespace hydra {

/// What a layer reads of one micro-batch if it is the first, or the last, of its shard, as charged.
struct layer_reads {
  byte_count inputs;     ///< all that is added to its input; its input if nothing is
  byte_count upstreams;  ///< all that is added to the gradient of its output
  byte_count skip{};     ///< what is added to the gradient of its input
  bool adds_inputs = false;
  bool adds_upstreams = false;
  bool takes_columns = false;  ///< of the upstream: its output is a term of what the layer behind it reads
};
layer_reads reads_of(const chain_profile& profile, std::size_t layer);

/// Of a layer side by side with others: what the layer behind them reads; null for other layers.
const tensor_spec* joined_with(const chain_profile& profile, std::size_t layer);
/// Which columns of that are its output's.
parameter_slice::range columns_of(const chain_profile& profile, std::size_t layer);

/// Of the layer behind some that are side by side, what it reads besides the first term, or the input to which all are
/// added; with columns, all of them. Empty for other layers.
std::vector<tensor_spec> terms_before(const chain_profile& profile, std::size_t layer);
bool joins_columns(const chain_profile& profile, std::size_t layer);

/// A shard has to begin with this layer: it is side by side with others, or it is behind them, or they add to its
/// input, or replicas meet there.
bool begins_shard(const chain_profile& profile, std::size_t layer);

/// Of a chain that is cut where it has to be.
std::vector<shard_group> groups_of(const chain_profile& profile, const std::vector<std::size_t>& cuts);

}  // namespace hydra
