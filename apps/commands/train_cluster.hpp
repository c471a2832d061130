#pragma once
// hydra train --listen: the models of a workload on several machines.

#include "apps/commands/blocked_signals.hpp"
#include "apps/run_folder/folder_lock.hpp"
#include "apps/steering/live_access.hpp"
#include "apps/workload/workload.hpp"

#include "actors/report/report.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace hydra::apps {

struct cluster_train_options {
  std::string listen;               ///< "ADDRESS:PORT"
  std::optional<std::string> keys;  ///< folder; none: keys of the run
  std::uint64_t nodes = 1;
  bool local = true;  ///< this process is a node, too
  bool resume = false;
  std::optional<live_address> page;
  bool quiet = false;
};

/// Every model has a checkpoint of its end in the run folder.
bool is_complete_on_cluster(const workload& w);

/// The run folder is there, and locked. Throws fault_error before the first node can join.
report train_on_cluster(const workload& w, const cluster_train_options& o, const blocked_signals& blocked);

}  // namespace hydra::apps
