#pragma once
// A node of a cluster in virtual time: the actors of a run, with all models of a plan, which are paused until they are given to it.

#include "actors/simulation/shortened_run.hpp"
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

/// What one of several nodes does of a model that they train together: its share of the replicas of each step. An update also
/// takes as long as the nodes exchange the shard's gradient sums, so they do not wait for each other otherwise.
sharded_model_ptr share_of(const sharded_model& m, std::uint32_t nodes, const network_rates& network);

/// Where models continue that were taken back, by name.
using saved_models = std::map<std::string, model_checkpoint>;

class simulated_node {
 public:
  /// `speed`: of its devices, over those of the plan. `most_nodes`: that train a model together, by the plan's models. Its models
  /// are saved in `saved` and continue from there; lives longer.
  simulated_node(simulation_setup plan, double speed, const std::vector<std::uint32_t>& most_nodes,
                 const network_rates& network, saved_models& saved);
  ~simulated_node();

  /// Since the start.
  void run_until(duration t);
  /// `nodes` train the model together: they are given it, and it is taken from them, with the same number.
  void steer(std::size_t model, std::uint32_t nodes, model_command what, command_sink answer);
  /// After read().
  const model_now& of(std::size_t model, std::uint32_t nodes) const;
  void read();

 private:
  class store;
  std::size_t number_of(std::size_t model, std::uint32_t nodes) const;

  std::unique_ptr<store> store_;
  std::vector<std::string> names_;  ///< of the shares
  std::vector<std::vector<std::size_t>>
      by_;  ///< of each model: the share that it is trained with by so many nodes, less one
  std::unique_ptr<simulation> run_;
  run_status status_;
  time_point start_{};
};

}  // namespace hydra
