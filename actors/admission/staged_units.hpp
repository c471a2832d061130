#pragma once
// How many units a device stages besides the one that computes.

#include "actors/admission/prediction.hpp"

#include <cstdint>
#include <span>

namespace hydra {

/// Whether it may pay to stage several: the policy uses them, a link is crossed, and the loads of a model take longer
/// than its forward visits.
bool may_stage_several(const planned_run& run);

/// Of 1, 2, 3, 4, 6 and 8, as far as the policy uses them and all devices have memory for them, the fewest with which
/// the simulated run is hardly longer (1 %) than with any other. More staged units hide longer copies, but leave less
/// memory to saved tensors and to the cache. 1 without simulation if they cannot pay; also if the run cannot be
/// simulated.
std::uint32_t choose_staged_units(const planned_run& run);

/// Sets their number in the plan, and what memory they leave to saved tensors.
void stage_units(workload_plan& plan, std::uint32_t units, const ablation_options& parts,
                 std::span<const device_info> devices);

/// Both.
planned_run with_staged_units(planned_run run);

}  // namespace hydra
