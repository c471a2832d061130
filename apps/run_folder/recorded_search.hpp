#pragma once
// search.jsonl of a run folder: what a search has decided, and the ranking of its trials.

#include "actors/report/report.hpp"
#include "actors/selection/search_ranking.hpp"

#include <filesystem>
#include <vector>

namespace hydra::apps {

inline constexpr const char* search_file = "search.jsonl";

/// What the search of a run has decided so far; nothing without its file. Throws fault_error{damaged} naming it, {io}.
std::vector<search_record> read_decisions(const std::filesystem::path& run);

/// The ranking of the run's trials, those that have failed by values that are not finite last. A search that stops none
/// ranks them by the best evaluations of the report. No trials: the run has no search, or nothing was evaluated yet,
/// or, as a note of the report then says, it cannot be read.
search_ranking read_ranking(const std::filesystem::path& run, report& r);

}  // namespace hydra::apps
