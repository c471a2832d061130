#pragma once
// The ranking of the trials of a search, from what it has decided. Standard library only.

#include "actors/selection/search_record.hpp"
#include "actors/selection/search_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct ranked_trial {
  search_trial is{};
  std::string of{};               ///< a copy began with the state of this trial
  std::uint32_t began = 0;        ///< after so many steps of that
  std::uint32_t steps = 0;        ///< to the last rung, or the end, of which it has a result
  std::optional<double> score{};  ///< there; lower is better
  trial_verdict verdict = trial_verdict::go_on;
  /// "stopped at rung 2: 9th of 16, 8 continue", "stopped after 20 steps: 4th of the first 4; gpt-3.pbt2, from gpt-1,
  /// took its place", "waits at rung 2"; of go_on empty.
  std::string reason{};
};

struct search_ranking {
  std::string rule;  ///< "halving: 32 trials; 1 of 2 goes on after 10 and 20 of 80 steps"
  search_metric metric = search_metric::validation;
  std::uint32_t steps = 0;             ///< of a trial that is not stopped; 0: not known
  std::size_t drawn = 0;               ///< trials that are not copies
  std::vector<ranked_trial> trials{};  ///< best first
};

/// The trial of that name; null for a model that is none.
const ranked_trial* find_trial(const search_ranking& s, const std::string& model);

/// Scores after different numbers of steps do not compare: trials are ranked by the last rung of which they have a
/// result, then by their score there; under a rule without rungs by their last result; under none by their last score.
/// Copies of trials are trials. Records of other trials and, as after a resume, repeated ones do not count. Throws
/// fault_error{bad_input} for impossible settings.
search_ranking rank_trials(const search_settings& settings, std::span<const search_record> records);

}  // namespace hydra
