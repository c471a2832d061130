#pragma once
// A model as it is trained: chain, cuts, units, update rule. Shared, immutable.

#include "models/chain.hpp"
#include "models/optimizer/update_rule.hpp"
#include "partition/execute/shard.hpp"
#include "partition/plan/cursor.hpp"
#include "partition/plan/plan.hpp"
#include "partition/schedule_terms.hpp"
#include "runtime/base/model_graphs.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// One layer's copy of a parameter that another shard (or the same) owns.
struct tie {
  std::size_t owner_shard = 0;
  std::size_t owner = 0;           ///< index in the owner shard's layout
  std::size_t copy_shard = 0;
  std::size_t copy = 0;
};

/// `model` and `shards` are empty in a simulation: then only sizes and times count and no operation is ever run.
struct sharded_model {
  std::string name;
  std::shared_ptr<const chain> model;
  std::vector<shard> shards;
  std::vector<tie> ties;
  model_plan plan;
  model_graphs_ptr graphs;            ///< of the plan
  update_options update;
  std::uint32_t steps = 0;
  std::uint32_t evaluate_every = 0;   ///< steps; 0: after the last one only (with how much: plan.evaluation)
  std::uint64_t seed = 0;
  bool keep_best = false;             ///< save the state with the smallest evaluation loss in addition to checkpoints
  bool stop_on_nan = true;
  bool follows_on_device = true;      ///< a device that has stepped shard 0 may continue at once: none is faster
  double remaining_scale = 1;         ///< its wall time alone / its compute time: remaining times are wall times
  std::string identity{};             ///< all that decides its results, one per line: a checkpoint must agree
  schedule_terms terms{};
  step_share share{};  ///< the plan's replicas and micro-batches are those of the share

  std::size_t size() const noexcept { return plan.shards.size(); }
  evaluation_schedule evaluations() const noexcept { return {.every = evaluate_every, .range = plan.evaluation}; }
  std::uint32_t micro_batches_of_replica() const noexcept { return plan.micro_batches / plan.replicas; }
  /// The place of its first micro-batch in the step, and how many the step has with those of other nodes.
  std::uint32_t first_micro_batch() const noexcept { return share.first * micro_batches_of_replica(); }
  std::uint32_t micro_batches_of_step() const noexcept {
    return share.whole() ? plan.micro_batches : share.of * micro_batches_of_replica();
  }
};

using sharded_model_ptr = std::shared_ptr<const sharded_model>;

/// The units of the model in their order, with the times of its plan.
cursor units_of(model_id id, const sharded_model& m);

/// The ties between trained parameters of a cut chain. Throws fault_error{bad_input} if an owner is missing.
std::vector<tie> find_ties(const std::vector<shard>& shards);

/// The options with which an owned parameter is stepped.
update_options update_of(const sharded_model& model, const placed_parameter& p);

/// Shards of a chain for given cuts.
std::vector<shard> make_shards(const std::shared_ptr<const chain>& model, const cut_points& cuts);

/// A chain cut as planned, with its graphs. How it is trained (update, steps, seed, ...) is left to the caller.
sharded_model make_sharded(std::shared_ptr<const chain> model, model_plan plan);

}  // namespace hydra
