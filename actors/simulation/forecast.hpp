#pragma once
// The expected times of a plan.

#include "actors/policy/bounds.hpp"
#include "actors/report/expenses.hpp"
#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

struct forecast {
  duration makespan{};
  bounds limits;
  std::string policy;
  std::vector<std::string> replacements;  ///< of that policy, with the reason
  std::uint32_t shortened = 1;  ///< the number of steps was divided by this, and the makespan scaled like its bound
  duration compute_end{};       ///< of the last unit, scaled in the same way
  std::uint64_t loads = 0;      ///< of shards, in the run that was simulated
  std::uint64_t hits = 0;
  std::uint64_t saved = 0;      ///< micro-batches of backward visits that had what the forward visit saved
  std::uint64_t recomputed = 0;  ///< those that computed the forward again
  std::uint64_t decisions = 0;
  run_work work{};              ///< of the whole run, scaled like its makespan
  run_expenses spent{};         ///< for that, by the terms of a session
};

}  // namespace hydra
