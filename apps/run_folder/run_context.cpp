#include "apps/run_folder/run_context.hpp"

#include "apps/run_folder/recorded_search.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/stop_reasons.hpp"
#include "apps/run_folder/stopped_models.hpp"
#include "apps/workload/parse.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"

#include <exception>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

std::string name_of_folder(const fs::path& folder) { return without_end(fs::absolute(folder)).filename().string(); }

void add_settings(recorded_run& run, const fs::path& folder) try {
  const fs::path file = folder / workload_file;
  if (kind_of(file) != fs::file_type::regular) return;  // the run of a program
  const value_table workload = parse_toml(read_text(file, text_kind::settings), file.string());
  run.settings = varied_in(workload);
  explain_stops(run.summary, workload, read_stopped(folder));
} catch (const std::exception&) {
  // the report is shown without
}

}  // namespace

void add_context(recorded_run& run, const fs::path& folder) {
  run.folder = name_of_folder(folder);
  run.search = read_ranking(folder, run.summary);
  add_settings(run, folder);
}

recorded_run with_context(const report& r, const fs::path& folder) {
  recorded_run run;
  run.summary = r;
  add_context(run, folder);
  return run;
}

}  // namespace hydra::apps
