#pragma once
// Numbers for steps in parallel that a workload leaves to the planner.

#include "apps/workload/workload.hpp"

#include <cstddef>
#include <string>

namespace hydra::apps {

/// True if some model's replicas, waves or pieces are "auto".
bool has_choices(const workload& w);

/// The numbers of the plan instead of "auto", in the models and in the file as it is run; with waves that it has chosen
/// also that of shards.
void set_chosen(workload& w, const workload_plan& plan);

/// A run that is resumed keeps the replicas and pieces that were chosen when it was started, which decide results:
/// those of `recorded`, the file as it was run then.
void keep_results(workload& w, const value_table& recorded);

/// What to do where models, and the parts of their steps, are fewer than the devices, so that some are always idle;
/// empty where they are not. `file`: as a command line names the workload.
std::string idle_devices_note(const workload_plan& plan, std::size_t devices, const std::string& file);

}  // namespace hydra::apps
