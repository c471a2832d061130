#pragma once
// report.json of a run folder, as the commands report, simulate and export read it. A value that the report lacks keeps
// its default: an older run, or one without validation, has less to show.

#include "actors/report/report.hpp"
#include "actors/selection/search_ranking.hpp"
#include "apps/run_folder/varied_settings.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

/// A named number of seconds: one bound, one part of the time breakdown.
struct named_seconds {
  std::string name;
  double seconds = 0;
};

struct recorded_run {
  report summary;  ///< the content of the tables after a run
  search_ranking search;  ///< without trials: it is not known (read_ranking()), or there is no search
  std::string folder;     ///< its name, without those of the folders that it is in; empty: not known
  varied_settings settings;  ///< add_context() fills in these two
  std::vector<std::string> next;  ///< command lines for the best model: add_next() fills in this and the next one
  std::string note_on_next;
  std::string version;
  std::string bound;  ///< name of the largest bound
  double bound_seconds = 0;
  double efficiency = 0;
  std::vector<named_seconds> bounds;              ///< without "_s"
  std::vector<std::vector<named_seconds>> breakdown;  ///< by device; empty where the report has none
  std::string unfinished;                            ///< why there is no report: "under way; ..."; empty: there is one
  std::map<std::string, std::uint32_t> steps_in_all; ///< of the models of a run that is not finished
  std::map<std::string, double> learning_rates;      ///< the same: of their last steps
};

/// Parses the text of a report.json. A loss of null is NaN. Throws fault_error{bad_input} with `name` in front: not
/// JSON (truncated), or a value of a wrong type.
recorded_run parse_report(std::string_view text, const std::string& name);

/// Reads report.json of a run folder. Throws fault_error{bad_input}: no such run, a report that is missing or not
/// readable, or not a report.
recorded_run read_report(const std::filesystem::path& run);

}  // namespace hydra::apps
