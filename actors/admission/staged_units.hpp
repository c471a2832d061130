#pragma once
// How many units a device stages besides the one that computes.

#include "actors/admission/prediction.hpp"

#include <cstdint>
#include <span>

namespace hydra {

/// The fewest with which the simulated run is hardly longer (1 %) than with any number that the policy uses and for
/// which all devices have memory. More staged units hide longer copies, but leave less memory to saved tensors and to
/// the cache. 1 without simulation if each forward visit hides the load of the next one.
std::uint32_t choose_staged_units(const planned_run& run);

/// Sets their number in the plan, and what memory they leave to saved tensors.
void stage_units(workload_plan& plan, std::uint32_t units, const pipeline_options& options,
                 std::span<const device_info> devices);

}  // namespace hydra
