#pragma once
// Proven lower bounds of the makespan. Standard library only.

#include "runtime/bytes.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// One class of units of a model and the smallest time seen of it, at speed 1.
struct unit_times {
  std::vector<duration> forward;   ///< per shard; the last entry is unused (its forward is part of backward)
  std::vector<duration> backward;  ///< per shard
  std::vector<duration> promote;   ///< per shard, h2d of its parameters; 0 where not measured
  std::vector<duration> demote;    ///< per shard, d2h of its gradients; 0 where not measured
  std::vector<duration> update;    ///< per shard, optimizer; 0 where not measured
  std::uint32_t steps = 0;
};

/// The bounds of a workload and the largest of them by name.
struct bounds {
  duration work{};    ///< sum of all unit times / sum of speeds
  duration chain{};   ///< longest model alone on the fastest device: its units in order
  duration best() const noexcept { return work > chain ? work : chain; }
  std::string best_name() const { return work > chain ? "work" : "chain"; }
};

/// `work` and `chain` (scheduling study, section 3). The chain bound counts the unavoidable turn of each step
/// (gradient of shard 0 down, its update, its parameters up) as far as those times are given.
bounds lower_bounds(std::span<const unit_times> models, std::span<const double> speeds);

}  // namespace hydra
