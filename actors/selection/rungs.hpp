#pragma once
// Where the trials of a search are compared, and how. Standard library only.

#include "actors/selection/search_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Steps to each rung: `first` * `factor`^k while that is below `steps`, then `steps` itself, the end of a trial, where
/// nothing is decided. Throws fault_error{bad_input} unless first >= 1, factor >= 2 and steps >= 1.
std::vector<std::uint32_t> rung_steps(std::uint32_t first, std::uint32_t factor, std::uint32_t steps);

/// The place of the rung that decides after exactly so many steps; none for other steps and for the end.
std::optional<std::size_t> rung_at(const std::vector<std::uint32_t>& rungs, std::uint32_t steps);

/// Steps to the first rung behind so many that decides; 0: there is none.
std::uint32_t rung_behind(const std::vector<std::uint32_t>& rungs, std::uint32_t steps);

/// A score of the trial at a place of the workload.
struct ranked_score {
  double score = 0;
  std::size_t trial = 0;
};

/// Lower is better; a score that is not finite is worse than all others; of equal scores, the trial of the lower place
/// is better.
bool is_better(const ranked_score& a, const ranked_score& b);

/// A trial, and the rung, or the steps, where it is compared.
using trial_at = std::pair<std::size_t, std::size_t>;

/// The scores that these trials have there, best first.
std::vector<ranked_score> best_first(const std::vector<std::size_t>& trials, std::size_t where,
                                     const std::map<trial_at, double>& scores);

/// The place of a name; throws fault_error{bad_input} if it is not there.
std::size_t place_of_trial(const std::vector<std::string>& trials, const std::string& name);

/// The decision about the trial of the result comes first; if none is made, it waits.
std::vector<trial_decision> with_own_first(std::vector<trial_decision> made, const trial_result& arrived);

/// "1 of 3 goes on after 50, 150 and 450 of 1000 steps", for descriptions of rules.
std::string describe_rungs(const std::vector<std::uint32_t>& rungs, std::uint32_t factor);

}  // namespace hydra
