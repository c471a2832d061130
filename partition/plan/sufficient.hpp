#pragma once
// The smallest device memory that a workload needs, and the message if there is less.

#include "partition/plan/plan.hpp"
#include "runtime/base/fault.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Smallest sufficient budget without reserve: min over cuts and staging bytes of max (P + C) + max W. That is the sum
/// for one-layer shards, unless a longer shard needs less than one of its layers (a pooling layer makes a shard's
/// output smaller); for given cuts their own sum.
byte_count smallest_budget(std::span<const plan_request> models);

/// Budgets per model, computed once for all models that cost the same.
std::vector<byte_count> budgets_alone(std::span<const plan_request> models);

/// fault_error{does_not_fit} of a workload.
struct memory_refusal : fault_error {
  memory_refusal(const fault& why, byte_count needed) : fault_error(why), sufficient(needed) {}
  byte_count sufficient;  ///< memory, with the reserve of the device, with which it would fit
};

/// Throws memory_refusal for the device with the least usable memory: names, for the workload and per model, the layer
/// (or given shard) that needs the most, its bytes, and the smallest sufficient budget.
[[noreturn]] void refuse_memory(std::span<const plan_request> models, const device_info& device);

/// The fewest pieces, more than it has, with which the layers of a model may fit into `usable` bytes, if it needs
/// `needed` as it is. Bytes shrink no faster than pieces do; a whole block also becomes two layers. 0: none are
/// possible.
std::uint32_t more_pieces(const plan_request& m, byte_count needed, byte_count usable);
/// The same of a model whose needs are not known.
std::uint32_t more_pieces(const chain& model, const cut_rule& cuts, update_kind rule);

/// The same for a model that would join a run with these staging bytes.
[[noreturn]] void refuse_joining(const plan_request& m, const device_info& device, byte_count staging_bytes);

}  // namespace hydra
