#pragma once
// Prints how long a workload would take on the nodes of a cluster.

#include "actors/cluster/cluster_forecast.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

struct nodes_forecast {
  std::vector<double> speeds;  ///< of the nodes
  cluster_forecast expected;
};

/// A row for each. Empty if there is none.
std::string to_table(std::span<const nodes_forecast> all);

/// [{"speeds", "makespan_s", "bound_s", "moves", "moved_bytes", "transit_s"}]
nlohmann::ordered_json nodes_json(std::span<const nodes_forecast> all);

}  // namespace hydra::apps
