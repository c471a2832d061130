#pragma once
// The results of several policies on one workload, side by side.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/policy/bounds.hpp"
#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/forecast.hpp"
#include "apps/simulate/nodes_table.hpp"
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
  std::optional<bool> proven{};               ///< of the optimum: no policy is better; else the best that was found
  std::vector<std::string> replacements{};    ///< "policy X was replaced by sharded-lrtf: ...", as a run notes it
  expense spent{};                            ///< cost and energy, if devices have prices or watts
  std::optional<simulated_completions> completions{};  ///< only if models arrive later, have priorities or deadlines
};

/// Of a forecast or a simulated_run.
template <class Simulated>
policy_row row_of(const std::string& policy, const Simulated& s) {
  return {.policy = policy,
          .makespan = s.makespan,
          .compute_end = s.compute_end,
          .loads = s.loads,
          .hits = s.hits,
          .decisions = s.decisions,
          .replacements = s.replacements};
}

/// What a reader of its row should know, in sentences.
std::vector<std::string> remarks_of(const policy_row& r);

struct comparison {
  std::string name;
  std::string heading;                ///< what was simulated and how, for people
  std::vector<bounds::named> limits;  ///< of equal bounds the first one is the best
  std::vector<policy_row> rows;
  std::optional<duration> yardstick{};  ///< the makespan if models did not disturb each other: not a bound
  std::string ran{};                    ///< the policy of the run that was simulated
  std::optional<duration> measured{};   ///< makespan of the run that was simulated
  expense measured_spent{};             ///< by that
  std::string currency{};               ///< of all costs; may be empty
  std::vector<std::string> notes{};     ///< below the table
  std::vector<parallel_forecast> parallel{};   ///< of a workload: as it is, then with other replicas and waves
  std::vector<nodes_forecast> nodes{};         ///< of a workload: on the first node, on the first two, ...

  /// The largest bound.
  const bounds::named& best() const;
  double ratio(duration makespan) const;
};

/// A row for each policy, then the bounds in one line; the table of steps in parallel if there is more than one way.
std::string to_table(const comparison& c);

/// {"name", "bounds_us": {...}, "rows": [{"policy", "makespan_us", "bound", "bound_us", "ratio", "compute_end_us",
/// "loads", "hits", "decisions"}]} and, where they apply, mean_completion_us, weighted_completion_us, deadlines,
/// missed_deadlines, mean_tardiness_us, cost, joules, proven, replacements of rows, currency, yardstick_us,
/// measured_us, measured_expense, parallel (parallel_json).
nlohmann::ordered_json json_of(const comparison& c);
/// The same as text.
std::string to_json(const comparison& c);

}  // namespace hydra::apps
