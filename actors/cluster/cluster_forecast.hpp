#pragma once
// The expected times of a workload on several nodes. The run of each node is simulated by the actors of a run in
// virtual time; its models come and go as the state of the COORDINATOR (assignments.hpp) decides.

#include "actors/admission/model_estimate.hpp"
#include "actors/simulation/predict.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/collective/collective_cost.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hydra {

struct cluster_forecast_setup {
  std::vector<model_estimate> models;    ///< those of the plan, in its order: session::estimates()
  std::function<forecast_setup()> plan;  ///< of one node, with a policy of its own each time: session::simulated_plan()
  std::vector<double> speeds;            ///< of each node: of its devices, over those of the plan
  network_rates network{};               ///< between the nodes, and to the coordinator
};

struct cluster_forecast {
  duration makespan{};      ///< from the first assignment until the coordinator has the last model
  bounds limits{};          ///< of all nodes' devices in one machine
  std::uint32_t moves = 0;  ///< of models from one node to another
  byte_count moved{};       ///< checkpoints of models that were taken from their nodes
  duration transit{};       ///< from when they were to be given back until they were trained again, added
};

/// All nodes are there from the beginning, and none is lost. Checkpoints cross the network when models change their
/// nodes, and at their ends. Nodes that train a model together do not wait for each other in each step; the last of
/// them ends it.
cluster_forecast predict(const cluster_forecast_setup& setup);

}  // namespace hydra
