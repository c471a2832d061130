#pragma once
// INPUTS: offers nodes the files and folders that the workload names, which they may lack.

#include "actors/protocol/cluster.hpp"

#include <caf/actor_system.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hydra {

/// Where they are, by the names that the workload has for them. After the file or folder itself, files of the same
/// folder that are read with it.
using input_paths = std::map<std::string, std::vector<std::filesystem::path>>;

/// Files whose names begin with a period, and what is in such folders, are not offered. The first node that wants an
/// input waits until it was read once, for its checksums.
input_source spawn_inputs(caf::actor_system& system, input_paths what);

/// Those of models that are added to a run. What is offered under such a name already stays.
void add_inputs(const input_source& to, input_paths what);

}  // namespace hydra
