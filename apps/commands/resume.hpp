#pragma once
// hydra train --resume: decides whether this workload may continue in its run folder.

#include "apps/run_folder/moved_bases.hpp"
#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// Replicas that are left to the planner are those that it chose when the run was started, if it was.
void keep_choices(workload& w);

/// Changes nothing. Returns why the run starts afresh (no folder, no checkpoint yet), as a line for people; an empty
/// text if it continues. Throws fault_error{bad_input}: the folder cannot be used, has something else than a run, or
/// its run had another workload (the message names the first key that must not change), as moved_bases::place().
std::string check_resume(const workload& w, const moved_bases& bases = {});

/// Whether the folder's report is of a run all of whose models have ended. The report is written after the other files:
/// a run that was killed at its very end has none yet, or an older one.
bool tells_end(const std::filesystem::path& run);

}  // namespace hydra::apps
