#pragma once
// A plan as a scheduling instance: its shards' measured times and the devices' links.

#include "actors/simulation/instance.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/device/device.hpp"

#include <span>
#include <vector>

namespace hydra {

/// Of `n` bytes, over the fastest of the links.
duration fastest_copy(byte_count n, std::span<const device_info> devices);

/// Training only: evaluations are left out. Copies take what they take on the fastest of the links. A device has as
/// many slots of the plan's largest shard as fit in its memory, at least 2.
schedule_instance planned_instance(std::span<const sharded_model_ptr> models, std::span<const device_info> devices);

/// Wall time of each model alone on the fastest device / its compute time: the factor from remaining compute time to
/// remaining wall time. Measured over a few steps.
std::vector<double> remaining_scales(std::span<const sharded_model_ptr> models, std::span<const device_info> devices);

}  // namespace hydra
