#pragma once
// A workload file that a user has named, where a newcomer may name what hydra init makes one of.

#include "apps/workload/workload.hpp"

#include <filesystem>
#include <vector>

namespace hydra::apps {

/// As read_workload(). Throws fault_error{bad_input} with the command that writes a workload for the folder of a
/// checkpoint, or for a file of data.
workload read_given_workload(const std::filesystem::path& file, const std::vector<key_override>& overrides,
                             const path_places& places = {});

}  // namespace hydra::apps
