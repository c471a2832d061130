#pragma once
// INPUTS: offers nodes the files and folders that the workload names, which they may lack.

#include "actors/protocol/cluster.hpp"

#include <caf/actor_system.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace hydra {

/// Where they are, by the names that the workload has for them.
using input_paths = std::map<std::string, std::filesystem::path>;

/// Files whose names begin with a period, and what is in such folders, are not offered. The first node that wants an input waits
/// until it was read once, for its checksums. Ends when all handles to it are gone.
input_source spawn_inputs(caf::actor_system& system, input_paths what);

}  // namespace hydra
