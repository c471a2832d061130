#pragma once
// apps/simulate/ is what `hydra simulate` and `hydra study` do: instances are read, generated or taken from a recorded
// run, policies are run on them by either driver of actors/simulation/, the results become tables, CSV, JSON and pages.
// What is simulated how is decided in instance_runs.cpp, workload_runs.cpp and recorded_simulation.cpp; the rest are
// pure functions.
//
// This file: the policies that were simulated on one workload, side by side.

#include "actors/policy/bounds.hpp"
#include "runtime/base/bytes.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

struct policy_row {
  std::string policy;
  duration makespan{};
  duration compute_end{};
  std::uint64_t loads = 0;
  std::uint64_t hits = 0;
  std::uint64_t decisions = 0;
  std::vector<std::string> replacements{};    ///< "policy X was replaced by sharded-lrtf: ...", as a run notes it
  std::optional<duration> mean_completion{};  ///< where models arrive later or have priorities
  std::optional<duration> weighted_completion{};
};

struct comparison {
  std::string name;
  std::string heading;                ///< what was simulated and how, for people
  std::vector<bounds::named> limits;  ///< of equal ones the first named is the best
  std::vector<policy_row> rows;
  std::optional<duration> yardstick{};  ///< what models would take that do not disturb each other: fair, but no bound
  std::string ran{};                    ///< the policy of the run that was simulated
  std::optional<duration> measured{};   ///< makespan of the run that was simulated
  std::string note{};                   ///< below the table

  /// The largest bound.
  const bounds::named& best() const;
  double ratio(duration makespan) const;
};

/// A row for each policy, the bounds in a line.
std::string to_table(const comparison& c);

/// {"name", "bounds_us": {...}, "rows": [{"policy", "makespan_us", "bound", "bound_us", "ratio", "compute_end_us",
/// "loads", "hits", "decisions"}]} and, where they apply, mean_completion_us, weighted_completion_us, replacements of rows,
/// yardstick_us, measured_us.
nlohmann::ordered_json json_of(const comparison& c);
/// The same as text.
std::string to_json(const comparison& c);

}  // namespace hydra::apps
