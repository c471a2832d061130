#pragma once
// hydra train --resume: may this workload go on in its run folder?

#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// Touches nothing. Returns why the run starts afresh (no folder, no checkpoint yet), as a line for people; an empty
/// text if it goes on. Throws fault_error{bad_input}: the folder cannot be used, holds something else than a run, or its
/// run had another workload (naming the first key that must not change).
std::string check_resume(const workload& w);

/// The folder's report tells of a run all of whose models have ended. It is written behind the other files: one that was
/// killed at its very end has none yet, or an older one.
bool tells_end(const std::filesystem::path& run);

}  // namespace hydra::apps
