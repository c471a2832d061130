#pragma once
// The trials of a search as a table, and its parts that a page shows too.

#include "actors/report/report.hpp"
#include "actors/selection/search_ranking.hpp"

#include <string>
#include <vector>

namespace hydra {

/// Trials best first: what was varied, steps, score at the last rung, what became of them and why; then what they cost.
/// Steps are at least those of a trial's last result: the report of a run that is under way may be older.
std::string ranking_table(const report& r, const search_ranking& s);

/// Paths of what the search varies, in the order of the trials' keys.
std::vector<std::string> varied_keys(const search_ranking& s);
/// The last part of each path, the path itself if two keys have the same.
std::vector<std::string> key_titles(const std::vector<std::string>& keys);
/// The trial's values, as TOML; "-" if it does not have one.
std::vector<std::string> value_cells(const std::vector<std::string>& keys, const ranked_trial& t);

/// "finished", "stopped at rung 2: 9th of 16, 8 continue", "interrupted, waits at rung 2", "failed: io: ...".
std::string outcome(const model_report& m, const ranked_trial& t);

/// "800 of 2560 steps trained (31 %)".
std::string search_cost(const report& r, const search_ranking& s);

}  // namespace hydra
