#pragma once
// The command that continues a run.

#include <filesystem>
#include <string>

namespace hydra::apps {

/// A command line to copy: the workload that the run has recorded, in the working directory that the run was started
/// in, where its relative paths start.
std::string resume_command(const std::filesystem::path& run);

}  // namespace hydra::apps
