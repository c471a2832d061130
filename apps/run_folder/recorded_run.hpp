#pragma once
// apps/report/ shows what a run has left behind: report.json and trace.json, or metrics.jsonl of one that has not ended, read
// by their documented names, become tables and one page of HTML. Reading happens in recorded_run.cpp, metrics_record.cpp and
// timeline.cpp; the rest are pure functions.
// What a report lacks is left out of the page: an older run, or one without validation, has less to show.

#include "actors/report/report.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

/// A part of something that is measured in seconds: one bound, one cause of blame.
struct named_seconds {
  std::string name;
  double seconds = 0;
};

struct recorded_run {
  report summary;  ///< what the tables after a run show
  std::string version;
  std::string bound;  ///< name of the largest bound
  double bound_seconds = 0;
  double efficiency = 0;
  std::vector<named_seconds> bounds;              ///< without "_s"
  std::vector<std::vector<named_seconds>> breakdown;  ///< by device; empty where the report has none
  std::string unfinished;                            ///< why there is no report: "under way or killed; ..."; empty: there is one
  std::map<std::string, std::uint32_t> steps_in_all; ///< of the models of a run that is not finished
};

/// Of the text of a report.json. A loss of null is NaN. Throws fault_error{bad_input} with `name` in front: no JSON
/// (truncated), a value of a wrong type.
recorded_run parse_report(std::string_view text, const std::string& name);

/// report.json of a run folder. Throws fault_error{bad_input}: no such run, no report in it, one that
/// may not be read, not a report.
recorded_run read_report(const std::filesystem::path& run);

}  // namespace hydra::apps
