#pragma once
// Pulls a file or folder that the workload names, and this machine lacks.

#include "actors/cluster/teller.hpp"
#include "actors/protocol/cluster.hpp"

#include <caf/actor_system.hpp>

#include <filesystem>
#include <functional>
#include <string>

namespace hydra {

struct input_transfer {
  std::string name;  ///< as the workload has it
  input_source from;
  std::filesystem::path into;  ///< a folder for inputs of the run
  std::function<bool()> cancelled{};
  teller say{};  ///< for a person
};

/// Returns when it is there, where it is: in a folder whose name is the SHA-256 of all names and checksums, which
/// appears complete or not at all. One that is there is not pulled; what a process was pulling that was killed is
/// removed. One at a time for a folder. Throws fault_error {io}, {damaged}, {cancelled}, or with the source's reason.
std::filesystem::path receive_input(caf::actor_system& system, const input_transfer& what);

}  // namespace hydra
