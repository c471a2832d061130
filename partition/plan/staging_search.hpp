#pragma once
// Cuts of all models of a workload that share one device budget.

#include "partition/plan/balanced_cut.hpp"
#include "partition/plan/plan.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace hydra {

/// Cuts, one for each request, and the staging bytes they were made for.
struct cut_set {
  byte_count staging;
  std::vector<cut_points> cuts;
};

/// For X staging bytes each model is cut on its own: P + C <= usable - X, W <= X.
class staging_search {
 public:
  /// `usable`: memory without reserve of the smallest device. Throws fault_error{bad_input} for given cuts that are not
  /// cuts of their chain.
  staging_search(std::span<const plan_request> models, byte_count usable);

  /// Of all X: fewest shards in total, then smallest largest visit time, then smallest X.
  std::optional<cut_set> best() const;

  /// Of one model, for `staging` staging bytes.
  std::optional<cut_points> cuts_within(std::size_t model, byte_count staging) const;

  /// The least bytes, not above `usable`, for which there is a cut.
  std::optional<byte_count> least() const;

 private:
  const piece_table& pieces_of(const plan_request& m) const { return tables_.at(m.profile); }
  std::optional<cut_cost> cost(byte_count low, byte_count high) const;
  std::optional<cut_cost> cost_of(const plan_request& m, const cut_limits& limits, bool exact) const;
  std::optional<byte_count> least_of(const plan_request& m, byte_count staging) const;
  std::optional<cut_points> cut(const plan_request& m, const cut_limits& limits) const;

  std::span<const plan_request> models_;
  byte_count usable_;
  std::map<const chain_profile*, piece_table> tables_;
  std::vector<byte_count> staging_sizes_;  ///< every W that occurs, ascending
};

/// The largest W and P + C of these shards.
shard_demand demand_of(const chain_profile& profile, const cut_points& cuts);

/// Cuts that are always valid: the given ones, or single layers.
cut_points simplest_cuts(const plan_request& m);

}  // namespace hydra
