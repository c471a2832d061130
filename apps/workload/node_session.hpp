#pragma once
// The session of a node: the workload that its coordinator has sent, on this machine's devices.

#include "actors/cluster/coordinator.hpp"
#include "actors/cluster/inputs.hpp"
#include "actors/cluster/member.hpp"
#include "actors/protocol/cluster.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/workload.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// What a machine has instead of what the workload says.
struct node_machine {
  std::filesystem::path devices{};           ///< a file with [[device]] tables; empty: those of the workload
  std::optional<std::string> host_memory{};  ///< as [host] memory
  std::vector<std::string> plugins{};        ///< files: no others are loaded
};

/// Loads the plug-ins. Throws fault_error{bad_input} for one that cannot be used, or a file that has anything but
/// [[device]] tables.
void check_machine(const node_machine& here);

/// Of paths in the workload those that are relative start where its coordinator was started, if there is such a folder
/// here, else in the working directory; what is not there is taken from `place.input`. Throws fault_error as
/// read_workload() and assemble() do, {bad_input} for a workload that names plug-ins which are not among those of
/// `here`.
/// Models that are added are opened in the same way, {refused} with other data than the coordinator has.
made_session node_session(const node_accepted& what, const node_machine& here, const node_place& place);

/// A model that is added to the run of a cluster: what its nodes need. `d`: as it was opened, from this [[model]].
cluster_addition addition_of(const model_description& d, const value& table);

/// The files and folders that a workload names, for nodes.
input_paths inputs_in(value_table root);

/// Refuses, with key and line, what a cluster cannot do: steps in parallel that are left to the planner, a run that
/// keeps no checkpoints, a policy with which nodes of one model, or trials of a search, could wait for each other.
void check_for_cluster(const workload& w);

}  // namespace hydra::apps
