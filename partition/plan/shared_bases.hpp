#pragma once
// Frozen parameters that several models of a workload share: one home on the host, one place in a device's cache.

#include "partition/plan/cut.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/block_id.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Cuts models over the same base alike if all of them fit then: as the one with the most shards. Models with cut
/// points of their own keep these.
void cut_alike(std::span<const plan_request> models, const cut_limits& limits, std::vector<cut_points>& cuts);

/// Names the bases of a model's shards: those that are known by their known names, the others by the model, which adds
/// them. `base`: of its request.
void name_bases(model_plan& plan, const std::vector<std::string>& base, model_id id, known_bases& known);

/// Of a shard's base, if other models may have the same.
std::optional<block_id> shared_name(const shard_plan& shard);

/// Bytes of the bases of all models, each base once, with what the host's arena charges for them.
byte_count base_bytes(std::span<const model_plan> models);

}  // namespace hydra
