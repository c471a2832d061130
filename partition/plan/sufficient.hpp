#pragma once
// The smallest device memory that a workload needs, and the message if there is less.

#include "partition/plan/plan.hpp"

#include <span>
#include <vector>

namespace hydra {

/// Smallest sufficient budget without reserve: min over cuts and staging bytes of max (P + C) + max W. That is the sum
/// for one-layer shards, unless a longer shard needs less than one of its layers (a pooling layer makes a shard's
/// output smaller); for given cuts their own sum.
byte_count smallest_budget(std::span<const plan_request> models);

/// Budgets per model, computed once for all models that cost the same.
std::vector<byte_count> budgets_alone(std::span<const plan_request> models);

/// Throws fault_error{does_not_fit} for the device with the least usable memory: names, for the workload and per model,
/// the layer (or given shard) that needs the most, its bytes, and the smallest sufficient budget.
[[noreturn]] void refuse_memory(std::span<const plan_request> models, const device_info& device);

/// The same for a model that would join a run with these staging bytes.
[[noreturn]] void refuse_joining(const plan_request& m, const device_info& device, byte_count staging_bytes);

}  // namespace hydra
