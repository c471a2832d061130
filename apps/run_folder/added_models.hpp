#pragma once
// Models that were added to a run while it was under way: a run that continues in its folder has them, too.

#include "apps/run_folder/moved_bases.hpp"
#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// Their [[model]] tables, in the run folder.
inline constexpr const char* added_file = "added.toml";

/// None if no model was added. Throws fault_error{bad_input} for a file that cannot be read.
value_list read_added(const std::filesystem::path& run);

std::vector<std::string> names_of(const value_list& models);

/// Removes the file if there are none. Throws fault_error{io}.
void record_added(const std::filesystem::path& run, const value_list& models);

/// The workload with those of its run folder that it does not have itself.
workload with_added(const workload& w, const moved_bases& bases = {});

}  // namespace hydra::apps
