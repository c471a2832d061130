#pragma once
// Where a chain is cut.

#include "partition/profile/footprint.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hydra {

/// First layer of each shard, ascending, starting with 0.
using cut_points = std::vector<std::size_t>;

/// Fewest shards that fit, of those the smallest largest visit time. If that are fewer than `shards`: of all cuts into
/// up to so many the smallest largest visit time; where fewer have it the longest are divided, as far as layers go.
struct balanced_cut {
  std::size_t shards = 1;
};
/// The paper's: each shard is filled as far as it fits.
struct greedy_cut {};
/// Those of the model of the same name in a saved plan.
struct saved_cuts {
  std::filesystem::path file;
};

/// How the planner cuts: by a rule, or at given points.
using cut_rule = std::variant<balanced_cut, greedy_cut, cut_points>;
/// What a user chooses; saved cuts are read before anything is planned.
using cut_choice = std::variant<balanced_cut, greedy_cut, cut_points, saved_cuts>;

/// What a shard may need at most: P + C <= computing, W <= staging.
struct cut_limits {
  byte_count computing;
  byte_count staging;
};

bool fits(const shard_demand& demand, const cut_limits& limits) noexcept;

/// The paper's Algorithm 1, corrected: fills each shard as far as the limits allow, by the budget formula instead of
/// by running out of memory, and starts the next shard at the layer that did not fit (the original measured a layer
/// twice at every cut). Nothing if some layer alone does not fit.
std::optional<cut_points> greedy(const chain_profile& profile, const cut_limits& limits);

/// Throws fault_error{bad_input} unless the points start with 0, ascend and name layers of the chain.
void validate_cuts(const cut_points& cuts, std::size_t layers, const std::string& model);

/// A layer with which a shard has to begin (begins_shard), and does not.
std::optional<std::size_t> missing_cut(const cut_points& cuts, const chain_profile& profile);
/// Throws fault_error{bad_input} if there is one.
void require_shards_of_pieces(const cut_points& cuts, const chain_profile& profile, const std::string& model);

/// Index one past the last layer of shard i.
std::size_t last_layer(const cut_points& cuts, std::size_t shard, std::size_t layers);

}  // namespace hydra
