#pragma once
// The command that continues a run.

#include <filesystem>
#include <string>

namespace hydra::apps {

/// The working directory in which the run began, where the relative paths of its workload start; empty if that is this
/// one, or is gone, as on another machine: then they start here.
std::filesystem::path place_to_resume(const std::filesystem::path& run);

/// A command line to copy: it continues the run in that place, by the workload that it has recorded.
std::string resume_command(const std::filesystem::path& run);

}  // namespace hydra::apps
