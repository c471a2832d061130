#pragma once
// A node of a cluster in virtual time: the actors of a run, with all models of a plan, which are paused until they are
// given to it.

#include "actors/simulation/simulation.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/collective/collective_cost.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// How a model is trained in a simulated cluster.
struct simulated_team {
  std::uint32_t nodes = 1;  ///< that train it together
  bool gathers = false;     ///< gathers_sums() of it
};

/// What a node does of a model that several train together: of the replicas of a step as many as the node that has
/// most. An update takes longer by the exchange of the shard's gradient sums. `network`: what one exchange may use of
/// it.
sharded_model_ptr share_of(const sharded_model& m, const simulated_team& team, const network_rates& network);

/// Where models continue that were taken back, by name.
using saved_models = std::map<std::string, model_checkpoint>;

class simulated_node {
 public:
  /// `speed`: of its devices, over those of the plan. `teams`: of the plan's models. They are saved in `saved`, and
  /// continue from there; lives longer.
  simulated_node(simulation_setup plan, double speed, const std::vector<simulated_team>& teams,
                 const network_rates& network, saved_models& saved);
  ~simulated_node();

  /// Since the start.
  void run_until(duration t);
  void steer(std::size_t model, model_command what, command_sink answer);
  /// Throws the fault of a run that could not go on.
  std::vector<model_now> models();
  /// Nothing will happen until it is steered.
  bool is_idle() const;

 private:
  class store;

  std::unique_ptr<store> store_;
  std::vector<std::string> names_;
  std::unique_ptr<simulation> run_;
  time_point start_{};
};

}  // namespace hydra
