#pragma once
// What a run has reported so far in metrics.jsonl: for a run that is under way, or was killed.

#include "apps/run_folder/recorded_run.hpp"

#include <filesystem>
#include <iosfwd>
#include <string_view>

namespace hydra::apps {

/// Parses the lines of a metrics.jsonl. First come the models of `plan` (the text of a workload.toml) in its order,
/// then models that only occur in metrics.jsonl. `now`: seconds since 1970; `running`: the run is
/// under way. Lines that are not JSON, such as the last line of a run that was killed, and absent fields are ignored.
/// Of a step that is reported twice the later report counts.
recorded_run parse_metrics(std::istream& lines, std::string_view plan, double now, bool running);

/// The report of a run folder; or its metrics and the cuts of its plan if there is no report or if the metrics have
/// steps that the report lacks. For a run that has not reported anything yet, the models of its workload. Throws as
/// read_report does, and fault_error{bad_input} for a folder that has none of these files.
recorded_run latest_record(const std::filesystem::path& run);

}  // namespace hydra::apps
