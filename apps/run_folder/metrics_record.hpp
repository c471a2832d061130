#pragma once
// What a run has told so far, from metrics.jsonl: of one that is under way, or was killed.

#include "apps/run_folder/recorded_run.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hydra::apps {

/// Of the text of a metrics.jsonl, with the models of `plan`, the text of a workload.toml, in its order; those that are only
/// told of behind them. `now`: seconds since 1970. Lines that are no JSON, as the last one of a run that was killed, and what
/// they lack do not count. A step that is told twice is the later one.
recorded_run parse_metrics(std::string_view text, std::string_view plan, double now);

/// The report of a run folder; or its metrics and the cuts of its plan, where they know of steps that the report, if there is
/// one, does not. Of a run that has told nothing yet, the models of its workload. Throws as read_report does, and
/// fault_error{bad_input} for a folder that holds none of these.
recorded_run latest_record(const std::filesystem::path& run);

}  // namespace hydra::apps
